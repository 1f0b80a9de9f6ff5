import { boardDocs } from './boarddocs.ts';
import { cityScrapers } from './city-scrapers.ts';
import { civicPlus } from './civicplus.ts';
import { federalRegister } from './federal-register.ts';
import { feed } from './feed.ts';
import { granicus } from './granicus.ts';
import { grants } from './grants.ts';
import { icalendar } from './icalendar.ts';
import { jsonEvents } from './json-events.ts';
import { legistarApi } from './legistar-api.ts';
import { legistarPages } from './legistar-pages.ts';
import { page } from './page.ts';
import { pageMeetings } from './page-meetings.ts';
import { schemaOrg } from './schema-org.ts';
import type { Adapter } from './types.ts';

/** All platforms that are known. A new one is one file, and one line here. */
export const ADAPTERS: Adapter[] = [legistarApi, icalendar, feed, cityScrapers, federalRegister, grants, jsonEvents, boardDocs, legistarPages, granicus, civicPlus, schemaOrg, pageMeetings, page];

export function adapterOf(name: string): Adapter {
  const adapter = ADAPTERS.find((one) => one.name === name);
  if (!adapter) throw new Error(`No adapter has the name ${name}`);
  return adapter;
}
