import type { ResponseObject } from '@hapi/hapi';
import { problem, readForm } from 'civic';
import type { AccountsService } from 'civic/accounts';
import type { Row } from '../adapters/types.ts';
import type { Ingest } from '../context.ts';
import { feedsOf } from '../feeds/routes.ts';
import type { Fault } from '../reads/fault.ts';
import { cutLine } from '../reads/lines.ts';
import { newestRows } from '../reads/store.ts';
import { SAMPLE } from '../sources/shown.ts';
import type { SourceChanges, Sources } from '../sources/sources.ts';
import type { SourceRow } from '../sources/store.ts';
import { go, noticeOf, type Notice, type SourcePage } from './area.ts';
import { barsOf } from './bars.ts';
import { classChoices, editForm, formFault, placeIn, settingsIn } from './forms.ts';
import { cadenceChoices, changesOnPage, readOnPage, rowsOnPage, sourceOnPage } from './shown.ts';

const READS = 30;

/** What a read that is not stored found. */
interface JustRead {
  rows: Row[];
  fault?: Fault | null;
}

interface More {
  read?: JustRead;
  notice?: string;
  errors?: object;
  given?: Record<string, unknown>;
  detail?: string;
}

/** The page of one source, and its forms. */
export interface OnePage {
  show(page: SourcePage, id: string, more?: More, status?: number): Promise<ResponseObject>;
  act(page: SourcePage, id: string): Promise<ResponseObject>;
}

export function createSourcePage(ingest: Ingest, sources: Sources, { pages }: Pick<AccountsService, 'pages'>): OnePage {
  const { civic, directory } = ingest;

  async function show(page: SourcePage, id: string, { read, ...more }: More = {}, status = 200): Promise<ResponseObject> {
    const { t, owner } = page;
    const row = await sources.found(civic.db.read, owner, id);
    const [source] = await sources.shown(civic.db.read, [row]);
    const { rows } = await sources.history(civic.db.read, row, { before: null, limit: READS });
    const place = await placeOf(row);
    const zone = await ingest.timeZone(civic.db.read, row);
    return page.show({ template: 'ingest/source', title: row.name, status }, {
      source: sourceOnPage(ingest, pages, page, source!, place), feeds: owner.workspace_id === null && feedsOf(row.id), notice: noticeOf(page), changes: changesOnPage(row, zone, t), changed: pages.when(row.last_change_at, t), ignored: source!.ignored,
      isRead: read !== undefined, found: read?.rows.length, fault: read?.fault && t('sources.not_read'), detail: read?.fault?.detail, rows: rowsOnPage(read?.rows ?? await newestRows(civic.db.read, row.key, SAMPLE), zone, t),
      reads: rows.map((one) => readOnPage(pages, one, t)), shown: rows.length, failed: rows.filter(({ outcome }) => outcome === 'failed' || outcome === 'refused').length, bars: barsOf(rows, READS),
      given: { name: row.name, url: row.url, place, issues: source!.issues.map((slug) => slug.replaceAll('_', ' ')).join(', '), tags: source!.tags.join(', ') }, isEdited: more.errors !== undefined, cadences: cadenceChoices(ingest, row, t, more.given?.['cadence']), classes: classChoices(more.given ? more.given['source_class'] : row.source_class, t), ...more,
    });
  }

  async function placeOf({ place_key }: SourceRow): Promise<string | undefined> {
    return place_key === null ? undefined : (await directory.places(civic.db.read, [place_key])).get(place_key)?.display_name;
  }

  async function test(page: SourcePage, id: string): Promise<ResponseObject> {
    const { url, place_key, platform } = await sources.found(civic.db.read, page.owner, id);
    return show(page, id, { read: await sources.test({ url, place: place_key, ...(platform !== null && { platform }) }) });
  }

  async function edit(page: SourcePage, id: string): Promise<ResponseObject> {
    const { values, errors, given } = readForm(page.request, editForm, page.t);
    if (!values) return show(page, id, { errors, given }, 400);
    const row = await sources.found(civic.db.read, page.owner, id);
    try {
      // A name that was not edited is not resolved: it may have been given by its key.
      const place = values.place === (await placeOf(row) ?? '') ? row.place_key : await placeIn(ingest, values.place);
      const changes: SourceChanges = { ...settingsIn(values), name: values.name, place, ...(values.url !== row.url && { url: values.url }) };
      await sources.change(page.owner, id, changes, { test: true, write: page.change });
    } catch (error) {
      const fault = formFault(error, page.t);
      return show(page, id, { ...fault, given }, fault.status);
    }
    return done(page, id, 'saved');
  }

  const done = (page: SourcePage, id: string, notice: Notice) => go(page, `/${id}?done=${notice}`);

  async function act(page: SourcePage, id: string): Promise<ResponseObject> {
    const { act: wanted, passage } = (page.request.payload ?? {}) as { act?: unknown; passage?: unknown };
    const { owner, change } = page;
    switch (wanted) {
      case 'test': return test(page, id);
      case 'edit': return edit(page, id);
      case 'delete':
        await change((tx) => sources.remove(tx, owner, id));
        return go(page, '?done=deleted');
      case 'pause':
      case 'resume':
        await change((tx) => sources.update(tx, owner, id, { state: wanted === 'pause' ? 'paused' : 'active' }));
        return done(page, id, wanted === 'pause' ? 'paused' : 'resumed');
      case 'ignore':
      case 'report':
        if (typeof passage !== 'string' || !passage.trim()) throw problem('invalid_request', { detail: 'The form names no passage, or several.' });
        await change((tx) => sources.ignore(tx, owner, id, cutLine(passage), wanted === 'ignore'));
        return done(page, id, wanted === 'ignore' ? 'ignored' : 'reported');
      default: throw problem('invalid_request', { detail: 'The form names nothing to do.' });
    }
  }

  return { show, act };
}
