import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { formOptions, pagePath, problem, type Civic, type Texts } from 'civic';
import type { AccountsService, Visitor } from 'civic/accounts';
import { valueInWords } from '../feeds/entry.ts';
import type { PageLinks } from '../links.ts';
import { listRechecks, OUTCOMES, recordCheck, type Outcome, type Recheck, type RecheckContext } from './service.ts';
import type { NamedStatement } from './confirm.ts';

type Context = RecheckContext & { civic: Pick<Civic, 'texts'>; links: PageLinks };

export const RECHECKS = '/console/rechecks';
const PAGE = { plugins: { civic: { internal: true } } };
const AT_ONCE = 10;

/** The page of reviewers about sources to check again. */
export function recheckPages(context: Context, { pages }: Pick<AccountsService, 'pages'>): ServerRoute[] {
  const { civic } = context;

  async function show(request: Request, h: ResponseToolkit): Promise<ResponseObject> {
    const t = await civic.texts(request.civic.language);
    const { data, total, next } = await civic.db.snapshot((tx) => listRechecks(context, tx, { limit: AT_ONCE, after: positionOf(request.query.after) }));
    return pages.showConsole(request, h, { path: RECHECKS, template: 'directory/rechecks', title: t('rechecks.title') }, {
      total,
      notice: noticeOf(request, t),
      next: next && `${RECHECKS}?after=${next.join('-')}`,
      items: data.map((item) => shownItem(item, context, t, (at) => pages.when(at, t))),
    });
  }

  return [
    { method: 'GET', path: RECHECKS, options: PAGE, handler: pages.reviewer((_by, request, h) => show(request, h)) },
    {
      method: 'POST', path: `${RECHECKS}/{source_id}`, options: formOptions(),
      handler: pages.reviewer(async (by, request, h) => {
        const { outcome, statements } = checkOf(request.payload);
        await recordCheck(context, String(request.params.source_id), { outcome, statements }, { editor: editorOf(by), doer: by.doer });
        return h.redirect(pagePath(request, `${RECHECKS}?done=${outcome}`)).code(303).header('cache-control', 'no-store');
      }),
    },
  ];
}

function editorOf({ account }: Visitor): { kind: 'reviewer'; account_id: string; workspace_id: null } {
  return { kind: 'reviewer', account_id: account.id, workspace_id: null };
}

/** Reads a form: the button is `confirmed`, or `retracted 3` for the statement of that number; the statements are `<entity> <claim>`. */
function checkOf(payload: unknown): { outcome: Outcome; statements: NamedStatement[] } {
  const { act = '', statement = [] } = (payload ?? {}) as { act?: string; statement?: string | string[] };
  const [outcome, number] = String(act).split(' ') as [Outcome, string | undefined];
  if (!OUTCOMES.includes(outcome)) throw problem('invalid_request', { detail: 'The form has no outcome.' });
  const all = [statement].flat().map((text) => String(text).split(' ')).map(([entity_id = '', claim_id = '']) => ({ entity_id, claim_id }));
  const chosen = number === undefined ? all : all.slice(Number(number), Number(number) + 1);
  if (outcome === 'retracted' && chosen.length === 0) throw problem('invalid_request', { detail: 'The form has no statement.' });
  return { outcome, statements: outcome === 'broken' ? [] : chosen };
}

function positionOf(text: unknown): number[] | null {
  const parts = typeof text === 'string' && /^\d{1,10}-\d{1,15}$/.test(text) ? text.split('-').map(Number) : null;
  return parts;
}

function shownItem({ source, cited, due, statements }: Recheck, { links }: Context, t: Texts, when: (at: string | null) => unknown): object {
  return {
    id: source.id, title: source.title ?? source.url, url: source.url, publication: source.publication, cited, due,
    seen: when(source.last_checked_at ?? source.retrieved_at),
    isMore: due > statements.length,
    statements: statements.map(({ entity, claim }, number) => ({
      number, value: `${entity.id} ${claim.id}`, name: entity.name, page: links.actor(entity.id),
      property: t(`rechecks.properties.${claim.property}`), text: valueInWords(claim), seen: when(claim.last_seen_at), excerpt: claim.excerpt,
    })),
  };
}

function noticeOf({ query }: Request, t: Texts): string | undefined {
  const done = query.done as Outcome;
  return OUTCOMES.includes(done) ? t(`rechecks.done.${done}`) : undefined;
}
