import type { Civic, Reader } from 'civic';
import type { AccountsService } from 'civic/accounts';
import type { DirectoryService } from 'civic/directory';
import type { DiscoveryService } from 'civic/discovery';
import type { FirehoseService } from 'civic/firehose';
import type { FlagsService } from 'civic/flags';
import type { ReaderService } from 'civic/reader';
import type { IngestConfig } from './config.ts';
import type { SourceRow } from './sources/store.ts';

/** The services that all parts of the plugin use. */
export interface Ingest {
  civic: Civic<IngestConfig>;
  reader: ReaderService;
  directory: DirectoryService;
  firehose: FirehoseService;
  accounts: AccountsService | null;
  flags: FlagsService | null;
  discovery: DiscoveryService | null;
  /** Returns the time zone of a source's place; UTC without one. */
  timeZone(reader: Reader, source: Pick<SourceRow, 'place_key'>): Promise<string>;
  /** Returns how many seconds are between two reads of a source. */
  cadence(source: Pick<SourceRow, 'cadence_seconds' | 'tags'>): number;
}

export function createIngest(civic: Civic<IngestConfig>): Ingest {
  const directory = civic.service('directory');
  return {
    civic, directory,
    reader: civic.service('reader'),
    firehose: civic.service('firehose'),
    accounts: civic.serviceIfOn('accounts'),
    flags: civic.serviceIfOn('flags'),
    discovery: civic.serviceIfOn('discovery'),
    async timeZone(reader, { place_key }) {
      if (place_key === null) return 'UTC';
      return (await directory.places(reader, [place_key])).get(place_key)?.time_zone ?? 'UTC';
    },
    cadence({ cadence_seconds, tags }) {
      if (cadence_seconds !== null) return cadence_seconds;
      const byTag = (JSON.parse(tags) as string[]).flatMap((tag) => civic.config.cadence_by_tag[tag] ?? []);
      return byTag.length > 0 ? Math.min(...byTag) : civic.config.cadence_seconds;
    },
  };
}
