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

/** The platform of a source that was stored by another version of this plugin. */
export class UnknownPlatform extends Error {
  constructor(name: string) {
    super(`Nothing here reads the platform “${name}” any more. Delete the source and add its address again, which recognises its platform.`);
  }
}

/** Returns the adapter of a platform; for one that is not known, an adapter whose reads fail with `UnknownPlatform`. */
export function adapterOf(name: string): Adapter {
  return ADAPTERS.find((one) => one.name === name) ?? {
    name, label: name, source_class: 'government_record', opensMore: true, recognises: () => 0,
    rows() { throw new UnknownPlatform(name); },
  };
}
