import type { Reader } from 'civic';
import type { Ingest } from '../context.ts';
import type { NoticeRule } from './notice.ts';
import { STATE_RULES } from './state-rules.ts';

/** Returns how much notice a place requires: by the options of the operator for the place or its state, else by the law of its state, else the usual notice. */
export async function placeRule({ civic, directory }: Ingest, reader: Reader, placeKey: string | null): Promise<NoticeRule> {
  const usual = { hours: civic.config.notice_hours, source: null };
  if (placeKey === null) return usual;
  const state = (await directory.places(reader, [placeKey])).get(placeKey)?.state?.abbreviation;
  return civic.config.notice_by_place[placeKey] ?? (state ? civic.config.notice_by_place[state] ?? STATE_RULES[state] : undefined) ?? usual;
}
