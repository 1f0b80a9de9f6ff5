import { readyAnswers, type Civic, type Progress, type ReadModel } from 'civic';
import { ACTOR_TABLES, modelUnder, type ActorModel } from './actors/model.ts';
import { hasOtherModels } from './actors/recount-store.ts';
import { createRunSlot } from './actors/runs.ts';
import { createWatchedSlot } from './actors/watched.ts';
import { createMeetingsSlot } from './feeds/meetings.ts';
import { HALF_LIVES, type DirectoryConfig } from './config.ts';
import type { ActorsChanged } from './events.ts';
import type { HalfLives } from './actors/freshness.ts';
import { createLedger } from './ledger/ledger.ts';
import { createPageLinks, type PageLinks } from './links.ts';
import type { WriteContext } from './ledger/routes.ts';
import { GAZETTEER_VERSION } from './places/gazetteer.ts';
import { GAZETTEER_TABLES, loadPlaces } from './places/load.ts';
import { createListedPlaces, type ListedPlaces } from './places/listed.ts';
import { createPlaces } from './places/service.ts';
import { copyOwnPlaces } from './places/store.ts';
import { createFieldPolicy, type FieldPolicy } from './policy/fields.ts';
import { rebuildQueue } from './rechecks/queue.ts';
import { createColumns } from './search/columns.ts';
import { openTaxonomy, type Taxonomy } from './taxonomy/service.ts';
import { createRegisterKey, type RegisterKey } from './unlisted/key.ts';
import { createRegister, type Register } from './unlisted/register.ts';
import { createTransfer, type Transfer } from './transfer/service.ts';

/** All that the directory keeps in memory, and what is done with it as the server comes and goes. */
export interface Directory extends WriteContext {
  civic: Civic<DirectoryConfig>;
  transfer: Transfer;
  halfLives: HalfLives;
  links: PageLinks;
  policy: FieldPolicy;
  register: Register;
  registerKey: RegisterKey;
  /** How many public actors have an issue area, by its slug. */
  issueCounts(): Promise<ReadonlyMap<string, number>>;
  /** The places that have public actors. */
  listedPlaces: ListedPlaces;
  /** Forgets what a change on another node made untrue. */
  notice(change: ActorsChanged): Promise<void>;
  readModels: ReadModel[];
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Rebuilds what follows from the ledger and the added places, whatever its version. */
  rebuild(progress: Progress): Promise<void>;
}

export function createDirectory(civic: Civic<DirectoryConfig>, model: ActorModel): Directory {
  const accounts = civic.serviceIfOn('accounts');
  let opened: Taxonomy | null = null;
  const taxonomy = () => (opened ??= openTaxonomy(civic.config.taxonomy_file));
  const places = createPlaces(civic.url);
  const columns = createColumns();
  const listedPlaces = createListedPlaces();
  const ready = readyAnswers({ maxBytes: civic.config.cache_megabytes * 1_000_000, now: () => civic.clock.now() });
  const halfLives = { ...HALF_LIVES, ...civic.config.half_life_days };
  const policy = createFieldPolicy(civic.config.field_policy);
  const registerKey = createRegisterKey({ key: civic.config.unlisted_key, dataDir: civic.instance.data_dir });
  const register = createRegister({ key: registerKey, places });
  const parts = { places, taxonomy, halfLives, policy, register, model: modelUnder(model, policy) };
  const rowModel = parts.model.version;
  const ledger = createLedger({
    civic, ...parts,
    onProjected({ rows, gone, places: touched, sources }) {
      columns.put(rows);
      columns.remove(gone);
      listedPlaces.touch(touched);
      ready.touch(staleTags(rows.map(({ id }) => id), touched, sources));
    },
  });
  return {
    civic, places, taxonomy, columns, ready, ledger, halfLives, listedPlaces, policy, rowModel, register, registerKey,
    watched: createWatchedSlot(),
    runs: createRunSlot(),
    meetings: createMeetingsSlot(),
    links: createPageLinks(civic.url),
    countWrite: async (tx, caller, amount) => accounts?.workspaceHooks.use(tx, caller, 'entity_writes', amount),
    transfer: createTransfer({
      civic, ledger, places, taxonomy,
      ledgerOn: (db) => createLedger({ civic: { db, clock: civic.clock, url: civic.url, emit: async () => undefined }, ...parts, onProjected: () => undefined }),
    }),
    async issueCounts() {
      await columns.ready();
      return columns.issueCounts();
    },
    async notice({ actors, keys, places: touched, sources }) {
      // SQLite belongs to one process, which was told when it wrote.
      if (civic.db.dialect === 'sqlite') return;
      const stale = staleTags(actors.map(({ id }) => id), touched, sources);
      // What is read from the database is right at once; what is counted in memory, when that is.
      ready.touch(stale);
      listedPlaces.touch(touched);
      await columns.refresh(civic.db.read, keys);
      if (stale.length > 0) ready.touch(['all']);
    },
    readModels: [
      {
        name: 'places',
        version: GAZETTEER_VERSION,
        tables: GAZETTEER_TABLES,
        async rebuild(run) {
          await loadPlaces(run);
          await ledger.relist();
        },
      },
      {
        name: 'actors',
        version: model.version,
        tables: ACTOR_TABLES,
        inBackground: true,
        hasOtherVersions: (reader) => hasOtherModels(reader, rowModel),
        rebuild: (run) => ledger.rebuild(run, 'outdated'),
      },
      { name: 'rechecks', version: 1, tables: ['directory_rechecks'], inBackground: true, rebuild: (run) => rebuildQueue({ civic, halfLives }, run) },
    ],
    async start() {
      taxonomy();
      void columns.load(civic.db.read, (error) => civic.log.error({ err: error }, 'The counts for facets could not be loaded yet'));
    },
    async stop() { columns.stop(); },
    async rebuild(progress) {
      await civic.db.write(copyOwnPlaces);
      await ledger.rebuild({ write: civic.db.write, progress: async (done, total) => progress('Actors', done, total) }, 'all');
    },
  };
}

/** Returns the tags of cached responses that a change of actors makes untrue: none for a private one, since they hold public data only. */
function staleTags(actorIds: Iterable<string>, places: Iterable<number>, sources: Iterable<number>): string[] {
  if ([...sources].length === 0) return [];
  return ['all', ...[...actorIds].map((id) => `actor:${id}`), ...[...places].map((place) => `place:${place}`), ...[...sources].map((key) => `source:${key}`)];
}
