import type { Command } from 'civic';
import type { Discovery } from '../context.ts';
import { shownSchedules } from './schedules.ts';

/** `civic discovery schedules` */
export function scheduleCommand(discovery: Discovery): Command {
  return {
    name: 'discovery schedules',
    summary: 'List the scheduled discovery runs with the next time of each',
    needs: 'database',
    async run({ terminal }) {
      const schedules = await shownSchedules(discovery, discovery.civic.db.read);
      terminal.print({ data: schedules }, () => schedules.map(({ location, issue_areas, depth, every, next_at }) => `${next_at ?? 'when the server starts'}  ${location}  ${every}, ${depth}: ${issue_areas.join(', ')}`).join('\n') || 'No runs are scheduled. plugins.discovery.schedules of the configuration adds them.');
    },
  };
}
