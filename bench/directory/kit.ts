import type { Civic } from 'civic';
import { compose, type Composition } from '../../core/compose.ts';
import { describeErrors } from '../../core/config/report.ts';
import { createLogger } from '../../core/log.ts';
import { prepare } from '../../core/prepare.ts';
import { HALF_LIVES, type DirectoryConfig } from '../../plugins/directory/config.ts';
import directory from '../../plugins/directory/index.ts';
import { actorModel, modelUnder } from '../../plugins/directory/actors/model.ts';
import { createLedger } from '../../plugins/directory/ledger/ledger.ts';
import type { Ledger } from '../../plugins/directory/ledger/service.ts';
import { createPlaces, type Places } from '../../plugins/directory/places/service.ts';
import { createFieldPolicy } from '../../plugins/directory/policy/fields.ts';
import { createColumns } from '../../plugins/directory/search/columns.ts';
import { openTaxonomy } from '../../plugins/directory/taxonomy/service.ts';
import { createGenerator, type Generator } from './generate.ts';

export interface DirectoryAt {
  /** Holds the SQLite file, and what else a server keeps. */
  folder: string;
  /** Of a Postgres; null for SQLite. */
  url: string | null;
  cacheMegabytes?: number;
}

export interface BenchDirectory {
  composition: Composition;
  civic: Civic<DirectoryConfig>;
  /** Writes what the plugin's own writes, and tells a second set of columns. */
  ledger: Ledger;
  places: Places;
}

/** The directory on a database that stays: opened and migrated, with its places, not started. */
export async function openDirectory({ folder, url, cacheMegabytes = 64 }: DirectoryAt): Promise<BenchDirectory> {
  let given: Civic<DirectoryConfig> | null = null;
  const plugin = { ...directory, register(server, civic) { given = civic; return directory.register(server, civic); } } as typeof directory;
  const settings = {
    data_dir: folder, database: { url }, http: { port: 0 }, log: { level: 'warn', access: 'warn', format: 'json' }, plugins: { directory: { cache_megabytes: cacheMegabytes } },
  };
  const { config, plugins, errors } = await prepare({ env: {}, args: {}, text: JSON.stringify(settings), given: [plugin as never] });
  if (errors.length > 0) throw new Error(describeErrors(errors, { color: false }));
  const composition = await compose({ config, plugins, log: await createLogger(config.log) });
  await composition.open({ writes: true, schema: 'migrate' });
  const civic = given as unknown as Civic<DirectoryConfig>;
  const places = createPlaces(civic.url);
  const taxonomy = openTaxonomy(null);
  const columns = createColumns();
  const policy = createFieldPolicy({});
  const ledger = createLedger({
    civic, places, taxonomy: () => taxonomy, halfLives: HALF_LIVES, policy, register: { isEmpty: async () => true, has: async (_reader, people) => people.map(() => false) }, model: modelUnder(actorModel, policy),
    onProjected({ rows, gone }) {
      columns.put(rows);
      columns.remove(gone);
    },
  });
  return { composition, civic, ledger, places };
}

/** Drafts in the places of the gazetteer. */
export async function generatorFor({ civic }: BenchDirectory): Promise<Generator> {
  const places = await civic.db.read('directory_places').where({ country: 'US', kind: 'city' }).whereNotNull('state')
    .orderByRaw('coalesce(population, 0) desc, key').select('place_key', 'name', 'state');
  return createGenerator({ places, issueAreas: openTaxonomy(null).issueAreas.map(({ slug }) => slug) });
}
