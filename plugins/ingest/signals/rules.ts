import type { Reader } from 'civic';
import type { Ingest } from '../context.ts';
import type { NoticeRule } from './notice.ts';

/** Returns how much notice a place requires: its own rule, that of its state, or the usual one. */
export async function placeRule({ civic, directory }: Ingest, reader: Reader, placeKey: string | null): Promise<NoticeRule> {
  const usual = { hours: civic.config.notice_hours, source: null };
  if (placeKey === null) return usual;
  const state = (await directory.places(reader, [placeKey])).get(placeKey)?.state?.abbreviation;
  return civic.config.notice_by_place[placeKey] ?? (state ? civic.config.notice_by_place[state] : undefined) ?? usual;
}
