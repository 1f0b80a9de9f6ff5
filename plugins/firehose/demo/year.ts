import type { SignalDraft } from '../types.ts';
import { writeDirectory } from './directory.ts';
import { openDesk, type DemoFacts } from './desk.ts';
import { writeMeetings } from './meetings.ts';
import { writeNews } from './news.ts';

// Any other number gives another year.
const SEED = 1887;

/** The last twelve months of the invented region, oldest first, the same for the same day. */
export function demoYear(facts: DemoFacts): SignalDraft[] {
  const actors = facts.actors.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const desk = openDesk({ ...facts, actors }, SEED);
  writeMeetings(desk);
  writeNews(desk);
  writeDirectory(desk);
  return desk.drafts.sort((a, b) => (a.detected_at! < b.detected_at! ? -1 : a.detected_at! > b.detected_at! ? 1 : a.id! < b.id! ? -1 : 1));
}
