import type { EventBus, EventsStatus, ResumedDelivery } from '../events.ts';
import { Failure, Misuse, type Command, type CommandCall, type Terminal } from './command.ts';

/** `civic events list | retry | skip`. */
export function eventCommands(events: () => EventBus): Command[] {
  return [
    {
      name: 'events list',
      summary: 'List how far each plugin has processed events, and what stops it',
      needs: 'database',
      async run({ terminal }) {
        const status = await events().status();
        terminal.print(status, () => statusWords(status, terminal));
      },
    },
    {
      name: 'events retry',
      summary: 'Retry the event that stopped a plugin',
      arguments: '<plugin>',
      examples: ['bin/civic events retry firehose'],
      needs: 'database',
      writes: true,
      existing: true,
      run: (call) => resume(call, (plugin) => events().retry(plugin), 'is tried again'),
    },
    {
      name: 'events skip',
      summary: 'Skip the event that stopped a plugin; the plugin never receives it',
      arguments: '<plugin>',
      examples: ['bin/civic events skip firehose'],
      needs: 'database',
      writes: true,
      existing: true,
      run: (call) => resume(call, (plugin) => events().skip(plugin), 'is skipped'),
    },
  ];
}

async function resume({ terminal, positionals }: CommandCall, how: (plugin: string) => Promise<ResumedDelivery | null>, done: string): Promise<void> {
  const [plugin, ...rest] = positionals;
  if (!plugin || rest.length > 0) throw new Misuse('Name one plugin');
  const resumed = await how(plugin);
  if (!resumed) throw new Failure(`No event holds up ${plugin}: bin/civic events list shows every plugin that listens`);
  terminal.print(resumed, () => resumedWords(resumed, done));
}

function resumedWords({ plugin, seq, name, error, missed }: ResumedDelivery, done: string): string {
  const lines = [`Event ${seq}${name ? ` (${name})` : ''} for ${plugin} ${done}. It had failed with: ${error}`];
  if (missed > 0) lines.push(`${missed} events were removed by events.retention_days while ${plugin} was stopped; restart the server with ${plugin} off and then on to rebuild it.`);
  return lines.join('\n');
}

function statusWords({ head, plugins }: EventsStatus, terminal: Terminal): string {
  const colour = { running: 'green', retrying: 'yellow', stopped: 'red', off: 'dim' } as const;
  const lines = plugins.map(({ plugin, position, lag, state, failed_seq, error }) => {
    const trouble = error ? `  event ${failed_seq}: ${error}` : '';
    return `${plugin.padEnd(14)} ${terminal.style(colour[state], state.padEnd(9))} at ${position}, ${lag} behind${trouble}`;
  });
  return [`Newest event: ${head}`, ...lines].join('\n');
}
