import { parseUrl } from 'civic';
import type { SourceClass } from 'civic/firehose';
import { adapterOf } from '../adapters/adapters.ts';
import type { SourceRow } from './store.ts';

/** The classes that a watched source can have: the others are of signals that the directory itself reports. */
export const CLASSES = ['government_agenda', 'government_record', 'organization_update', 'news', 'grant_notice'] as const satisfies readonly SourceClass[];

/** Formats that everybody writes, with their class on the site of a government. */
const GENERAL: Record<string, SourceClass> = {
  icalendar: 'government_agenda', json_events: 'government_agenda', page_meetings: 'government_agenda', schema_org: 'government_agenda', feed: 'government_record', page: 'government_record',
};
const GOVERNMENT = /(?:^|\.)(?:(?:gov|mil|gob|gouv|govt)(?:\.[a-z]{2})?|gc\.ca|[a-z]{2}\.us)$/;
/** Companies whose sites have agendas of public bodies. */
const AGENDA_HOSTS = /(?:^|\.)(?:legistar|granicus|civicplus|boarddocs|novusagenda|iqm2|primegov|civicclerk|escribemeetings|municodemeetings|civicweb)\.(?:com|net)$/;

/** Returns the class of a source's signals: its own, else by platform and address. */
export function classOf({ source_class, platform, url }: Pick<SourceRow, 'source_class' | 'platform' | 'url'>): SourceClass {
  if (source_class !== null) return source_class;
  const general = GENERAL[platform!];
  if (general !== undefined) return isGovernment(url) ? general : 'organization_update';
  const { pathname = '' } = parseUrl(url) ?? {};
  return platform === 'legistar_api' && /\/events\b/i.test(pathname) ? 'government_agenda' : adapterOf(platform!).source_class;
}

function isGovernment(url: string): boolean {
  const { hostname = '' } = parseUrl(url) ?? {};
  return GOVERNMENT.test(hostname) || AGENDA_HOSTS.test(hostname);
}
