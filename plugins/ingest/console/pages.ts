import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, Joi, pagePath, problem, problemOf, readForm, type Texts } from 'civic';
import type { AccountsService } from 'civic/accounts';
import { adapterOf } from '../adapters/adapters.ts';
import type { Ingest } from '../context.ts';
import { feedsOf } from '../feeds/routes.ts';
import type { ShownChange } from '../reads/last.ts';
import { cutLine } from '../reads/lines.ts';
import type { ReadRow } from '../reads/store.ts';
import type { ShownSource } from '../sources/shown.ts';
import type { Owner, Sources } from '../sources/sources.ts';
import type { SourceRow } from '../sources/store.ts';
import { barsOf } from './bars.ts';

export const SOURCES = '/console/sources';
export const PAGE = { plugins: { civic: { internal: true } } };
/** The page has all sources, so that a failing one is never on a later page. */
const AT_ONCE = 1000;
const READS = 30;
const NOTICES = ['added', 'paused', 'resumed', 'deleted', 'ignored', 'reported'] as const;
const ACTS = { pause: 'paused', resume: 'resumed', ignore: 'ignored', report: 'reported' } as const;

const address = Joi.string().trim().uri({ scheme: ['http', 'https'] }).max(2000).required().messages({ '*': 'sources.no_url' });
const sourceForm = Joi.object<{ url: string; place: string; name: string }>({ url: address, place: Joi.string().trim().max(200).allow(''), name: Joi.string().trim().max(200).allow('') });

/** The pages of the operator about watched sources: all of them, and one with its last reads. */
export function sourcePages(ingest: Ingest, sources: Sources, { pages }: Pick<AccountsService, 'pages'>): ServerRoute[] {
  const { civic, directory } = ingest;

  async function showAll(request: Request, h: ResponseToolkit, more: { errors?: object; given?: object } = {}, status = 200): Promise<ResponseObject> {
    const t = await civic.texts(request.civic.language);
    const { sources: found, total } = await sources.page(civic.db.read, { workspace_id: null }, { before: null, limit: AT_ONCE });
    const places = await directory.places(civic.db.read, found.flatMap(({ place }) => place ?? []));
    const shown = found.toSorted((a, b) => urgency(a) - urgency(b)).map((source) => shownHere(source, places.get(source.place ?? '')?.display_name, t));
    return pages.showConsole(request, h, { path: SOURCES, template: 'ingest/sources', title: t('sources.title'), status }, { sources: shown, total, notice: noticeOf(request, t), ...more });
  }

  async function showOne(request: Request, h: ResponseToolkit, accountId: string): Promise<ResponseObject> {
    const t = await civic.texts(request.civic.language);
    const row = await sources.found(civic.db.read, operator(accountId), String(request.params.id));
    const [source] = await sources.shown(civic.db.read, [row]);
    const { rows } = await sources.history(civic.db.read, row, { before: null, limit: READS });
    const place = row.place_key === null ? undefined : (await directory.places(civic.db.read, [row.place_key])).get(row.place_key)?.display_name;
    return pages.showConsole(request, h, { path: SOURCES, template: 'ingest/source', title: row.name }, {
      source: shownHere(source!, place, t), feeds: feedsOf(row.id), notice: noticeOf(request, t), changes: changesOf(row, t), changed: pages.when(row.last_change_at, t), ignored: source!.ignored,
      reads: rows.map((read) => shownRead(read, t)), shown: rows.length, failed: rows.filter(({ outcome }) => outcome === 'failed' || outcome === 'refused').length, bars: barsOf(rows, READS),
    });
  }

  function shownHere(source: ShownSource, place: string | undefined, t: Texts): object {
    const { id, name, url, platform, health, state, notices, row_count, last_read_at, next_read_at } = source;
    const standing = state === 'paused' ? 'paused' : health.status;
    const seconds = ingest.cadence({ cadence_seconds: source.cadence_seconds, tags: JSON.stringify(source.tags) });
    return {
      id, name, url, place, platform: platform && adapterOf(platform).label, isPaused: state === 'paused', health: standing, healthText: t(`health.${standing}`), detail: health.detail, isRendered: health.via === 'browser', notices: notices.map((notice) => t(`notices.${notice}`)), rows: row_count,
      minutes: Math.round(seconds / 60), since: pages.when(health.failing_since, t), last: pages.when(last_read_at, t), next: pages.when(next_read_at, t),
    };
  }

  function shownRead({ at, outcome, detail, added, changed, gone, signals }: ReadRow, t: Texts): object {
    return { at: pages.when(at, t), outcome, outcomeText: t(`outcomes.${outcome}`), detail, added, changed, gone, signals, hasChanges: added + changed + gone > 0 };
  }

  /** Returns the key of the place that a person typed; null for none. Throws when the text names no place for certain. */
  async function placeOf(text: string): Promise<string | null> {
    if (text === '') return null;
    const { place } = await directory.resolvePlace(civic.db.read, text);
    if (!place) throw problem('unknown_place');
    return place.place_key;
  }

  return [
    { method: 'GET', path: SOURCES, options: PAGE, handler: pages.reviewer((_by, request, h) => showAll(request, h)) },
    {
      method: 'POST', path: SOURCES, options: formOptions(),
      handler: pages.reviewer(async ({ account }, request, h) => {
        const t = await civic.texts(request.civic.language);
        const { values, errors, given } = readForm(request, sourceForm, t);
        if (!values) return showAll(request, h, { errors, given }, 400);
        try {
          const { source } = await sources.create(operator(account.id), { url: values.url, place: await placeOf(values.place), ...(values.name && { name: values.name }) }, { test: true });
          return go(request, h, `${SOURCES}/${source.id}?done=added`);
        } catch (error) {
          const found = problemOf(error);
          if (!found) throw error;
          const wrong = found.code === 'unknown_place' ? { place: t('sources.no_place') } : { url: found.detail ?? found.title };
          return showAll(request, h, { errors: wrong, given }, found.status);
        }
      }),
    },
    { method: 'GET', path: `${SOURCES}/{id}`, options: PAGE, handler: pages.reviewer(({ account }, request, h) => showOne(request, h, account.id)) },
    {
      method: 'POST', path: `${SOURCES}/{id}`, options: formOptions(),
      handler: pages.reviewer(async ({ account }, request, h) => {
        const id = String(request.params.id);
        const { act, passage = '' } = (request.payload ?? {}) as { act?: string; passage?: string | string[] };
        if (act === 'delete') {
          await civic.db.write((tx) => sources.remove(tx, operator(account.id), id));
          return go(request, h, `${SOURCES}?done=deleted`);
        }
        const isPassage = act === 'ignore' || act === 'report';
        if (!isPassage && act !== 'pause' && act !== 'resume') throw problem('invalid_request', { detail: 'The form names nothing to do.' });
        if (Array.isArray(passage) || (isPassage && !passage.trim())) throw problem('invalid_request', { detail: 'The form names no passage, or several.' });
        await civic.db.write(async (tx) => {
          if (isPassage) await sources.ignore(tx, operator(account.id), id, cutLine(passage), act === 'ignore');
          else await sources.update(tx, operator(account.id), id, { state: act === 'pause' ? 'paused' : 'active' });
        });
        return go(request, h, `${SOURCES}/${id}?done=${ACTS[act]}`);
      }),
    },
  ];
}

/** The operator as the owner of sources that a person works with. */
export function operator(accountId: string): Owner {
  return { workspace_id: null, account_id: accountId, most: Infinity, plan: null };
}

function go(request: Request, h: ResponseToolkit, path: string): ResponseObject {
  return h.redirect(pagePath(request, path)).code(303).header('cache-control', 'no-store');
}

/** Returns what changed last, with the lines of pages that can be ignored. */
function changesOf({ last_changes, ignored }: SourceRow, t: Texts): object[] {
  const known = new Set(JSON.parse(ignored) as string[]);
  return (JSON.parse(last_changes ?? '[]') as ShownChange[]).map(({ title, field, before, after }) => {
    const passage = field === 'text' ? after ?? before : null;
    return { title, field: field === 'text' || field === 'row' ? null : t(`fields.${field}`), before, after, passage, isIgnored: passage !== null && known.has(passage) };
  });
}

/** Failing sources come first, then new ones. */
function urgency({ health, state }: ShownSource): number {
  if (state === 'paused') return 3;
  return ['failing', 'new', 'healthy'].indexOf(health.status);
}

function noticeOf({ query }: Request, t: Texts): string | undefined {
  const done = NOTICES.find((notice) => notice === query.done);
  return done && t(`sources.${done}`);
}
