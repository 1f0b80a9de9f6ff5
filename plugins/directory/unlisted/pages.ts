import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, pagePath, type Civic, type Texts } from 'civic';
import type { AccountsService } from 'civic/accounts';
import type { PageLinks } from '../links.ts';
import { addEntry, deleteListed, listEntries, readRequest, removeEntry, type Added, type UnlistedContext, type Fault, type Fields } from './service.ts';

type Context = UnlistedContext & { civic: Pick<Civic, 'texts'>; links: PageLinks };

export const UNLISTED = '/console/unlisted';
const PAGE = { plugins: { civic: { internal: true } } };
const AT_ONCE = 50;
const LONGEST = 300;
const FIELD_OF: Record<Fault, keyof Fields> = { nothing: 'name', name_short: 'name', place_missing: 'place', place_unknown: 'place', email: 'email', phone: 'phone', url: 'url' };
const DONE = ['removed', 'deleted', 'nothing'] as const;

/** The page of administrators about people who asked not to be listed. */
export function unlistedRoutes(context: Context, { pages }: Pick<AccountsService, 'pages'>): ServerRoute[] {
  const { civic } = context;

  async function show(request: Request, h: ResponseToolkit, more: { given?: Fields; fault?: Fault; added?: Added; notice?: string } = {}): Promise<ResponseObject> {
    const t = await civic.texts(request.civic.language);
    const after = Number(request.query.after);
    const { entries, total, next } = await listEntries(context, AT_ONCE, Number.isSafeInteger(after) && after > 0 ? after : null);
    const { given, fault, added } = more;
    return pages.showConsole(request, h, { path: UNLISTED, template: 'directory/unlisted', title: t('unlisted.title'), ...(fault && { status: 400 }) }, {
      given, total,
      added: added && { ...added, listed: added.listed.map((one) => ({ ...one, page: context.links.actor(one.id) })) },
      errors: fault ? { [FIELD_OF[fault]]: t(`unlisted.faults.${fault}`) } : {},
      fault: fault && t('unlisted.not_added'),
      notice: more.notice ?? (added ? t(added.isNew ? 'unlisted.added' : 'unlisted.known') : noticeOf(request, t)),
      entries: entries.map((entry) => ({ ...entry, created_at: pages.when(entry.created_at, t), kinds: entry.kinds.map((kind) => t(`unlisted.kinds.${kind}`)).join(', ') })),
      next: next === null ? null : `${UNLISTED}?after=${next}`,
    });
  }

  const go = (request: Request, h: ResponseToolkit, done: (typeof DONE)[number], count = 0): ResponseObject => h.redirect(pagePath(request, `${UNLISTED}?done=${done}&count=${count}`)).code(303).header('cache-control', 'no-store');

  return [
    { method: 'GET', path: UNLISTED, options: PAGE, handler: pages.administrator((_by, request, h) => show(request, h)) },
    {
      method: 'POST', path: UNLISTED, options: formOptions(),
      handler: pages.administrator(async ({ doer }, request, h) => {
        const given = fieldsOf(request.payload);
        const read = await readRequest(context, given);
        if ('fault' in read) return show(request, h, { given, fault: read.fault });
        // The page is the response itself: nothing that names the person is stored or put into a URL.
        return show(request, h, { added: await addEntry(context, read.request, given.reference, doer) });
      }),
    },
    {
      method: 'POST', path: `${UNLISTED}/{id}/delete-matches`, options: formOptions(),
      handler: pages.administrator(async ({ doer }, request, h) => {
        const { actor = [] } = (request.payload ?? {}) as { actor?: string | string[] };
        const count = await deleteListed(context, String(request.params.id), [actor].flat().map(String), doer);
        return go(request, h, count > 0 ? 'deleted' : 'nothing', count);
      }),
    },
    {
      method: 'POST', path: `${UNLISTED}/{id}/remove`, options: formOptions(),
      handler: pages.administrator(async ({ doer }, request, h) => go(request, h, await removeEntry(context, String(request.params.id), doer) ? 'removed' : 'nothing')),
    },
  ];
}

function fieldsOf(payload: unknown): Fields {
  const given = (payload ?? {}) as Record<string, unknown>;
  const text = (name: string): string | null => (typeof given[name] === 'string' ? (given[name] as string).trim().slice(0, LONGEST) || null : null);
  return { name: text('name'), place: text('place'), email: text('email'), phone: text('phone'), url: text('url'), reference: text('reference') };
}

function noticeOf({ query }: Request, t: Texts): string | undefined {
  const done = query.done as (typeof DONE)[number];
  return DONE.includes(done) ? t(`unlisted.done.${done}`, { count: Number(query.count) || 0 }) : undefined;
}
