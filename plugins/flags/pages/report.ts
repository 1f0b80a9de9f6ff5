import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { clientAddressOf, formOptions, pagePath, problem, readForm, type Texts } from 'civic';
import type { ActorDetail, DirectoryService } from 'civic/directory';
import type { Flags } from '../flags.ts';
import { callerOf } from '../routes.ts';
import type { ReporterMails } from '../reporter/mails.ts';
import type { Proposal } from '../types.ts';
import { KINDS, reportForm, type ReportForm } from './form.ts';
import { RECEIPTS_PATH } from './receipt.ts';
import { statementsOf, type Choice } from './statements.ts';

const PATH = '/report';
const MOST_STATEMENTS = 60;
const internal = { plugins: { civic: { internal: true } } };

/** What a report is about, as the page shows it. */
interface Subject {
  target: keyof typeof KINDS;
  id: string;
  name: string;
  href: string;
  isPerson?: boolean;
  statements: Choice[];
}

/** Returns the routes of the form for reports. */
export function reportPages(flags: Flags, { isConfigured: takesEmail }: Pick<ReporterMails, 'isConfigured'>): ServerRoute[] {
  const { civic } = flags;
  const shown = { takesEmail, emailDays: civic.config.email_days, hidesContacts: civic.config.hold_hours > 0 };
  const textsOf = (request: Request) => civic.texts(request.civic.language);
  return [
    {
      method: 'GET', path: PATH, options: internal,
      async handler(request, h) {
        const t = await textsOf(request);
        return showForm(h, await subjectOf(flags, request.query, t), t, { ...shown, given: { statement: request.query.statement } });
      },
    },
    {
      method: 'POST', path: PATH, options: formOptions({ rate: 'flags' }),
      async handler(request, h) {
        const t = await textsOf(request);
        const { values, errors, given } = readForm<ReportForm>(request, reportForm, t);
        const subject = await subjectOf(flags, given, t);
        if (!values || !KINDS[subject.target].includes(values.kind)) return showForm(h, subject, t, { ...shown, given, errors: { kind: values ? t('report.choose_kind') : undefined, ...errors } }).code(400);
        const receipt = await create(flags, subject, takesEmail ? values : { ...values, email: undefined }, request);
        return h.redirect(pagePath(request, `${RECEIPTS_PATH}/${receipt}?new=1`)).code(303);
      },
    },
  ];
}

async function create(flags: Flags, { target, id }: Subject, { kind, statement, words, value, address, email, website }: ReportForm, request: Request): Promise<string> {
  const proposal: Proposal | undefined = value || address ? { value: value ?? null, source_url: address ?? null } : undefined;
  const reporter = email ? { email, language: request.civic.language } : undefined;
  const flag = { flag_type: kind, reason: words, proposal, reporter, address: clientAddressOf(request), isHiddenFieldFilled: Boolean(website) };
  const caller = callerOf(request);
  const { flag: created } = await {
    entry: () => flags.flagEntity({ ...flag, entity_id: id, ...(statement && { claim_id: statement }) }, caller),
    source: () => flags.flagSource({ ...flag, source_id: id }, caller),
    place: () => flags.flagPlace({ ...flag, place_key: id }, caller),
  }[target]();
  return created.receipt;
}

/** Returns the statements that the form lists, without the type of the actor. */
function statementsOffered({ claims, places }: ActorDetail, directory: DirectoryService, t: Texts): Choice[] {
  return statementsOf({ claims: claims.filter(({ property }) => property !== 'type'), places }, directory, t).slice(0, MOST_STATEMENTS);
}

async function subjectOf({ civic, directory }: Pick<Flags, 'civic' | 'directory'>, { entry, source, place }: { entry?: unknown; source?: unknown; place?: unknown }, t: Texts): Promise<Subject> {
  if (typeof entry === 'string') {
    const found = await directory.entry(entry);
    if (found?.state === 'merged') return subjectOf({ civic, directory }, { entry: found.into }, t);
    if (found?.state !== 'current') throw problem('not_found');
    return { target: 'entry', id: found.actor.id, name: found.actor.name, isPerson: found.actor.type === 'person', href: directory.links.pages.actor?.(found.actor.id) ?? '', statements: statementsOffered(found.actor, directory, t) };
  }
  if (typeof place === 'string') {
    const { place_key: id, display_name: name } = await directory.placeOfPath(place);
    return { target: 'place', id, name, href: directory.links.pages.place?.(id) ?? '', statements: [] };
  }
  const found = typeof source !== 'string' ? null : await directory.source(civic.db.read, source);
  if (!found) throw problem('not_found');
  return { target: 'source', id: found.id, name: found.title ?? found.url, href: directory.links.pages.source?.(found.id) ?? '', statements: [] };
}

function showForm(h: ResponseToolkit, subject: Subject, t: Texts, { takesEmail, emailDays, hidesContacts, given, errors = {} }: { takesEmail: boolean; emailDays: number; hidesContacts: boolean; given: Record<string, unknown>; errors?: Record<string, string | undefined> }): ResponseObject {
  return h.view('flags/report', {
    title: t('report.title', { name: subject.name }), isUnlisted: true, subject, takesEmail, emailDays, lead: t(hidesContacts && subject.isPerson ? 'report.lead_person' : 'report.lead'), given, errors,
    kinds: KINDS[subject.target].map((kind) => ({ kind, label: t(`kinds.${kind}`), isChosen: given['kind'] === kind })),
    statements: subject.statements.map((statement) => ({ ...statement, isChosen: given['statement'] === statement.id })),
  }).header('cache-control', 'private, no-store') as ResponseObject;
}
