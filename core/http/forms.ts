import type { Request, ResponseToolkit, RouteOptions } from '@hapi/hapi';
import type { ObjectSchema } from 'joi';
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RouteDeclaration } from '../plugin.ts';
import { problem } from '../problems.ts';

const MAX_FORM_BYTES = 64 * 1024;
const TOKEN = 'form_token';

export interface FormRules {
  /** Called before a cross-site or expired form is rejected, such as to record the attempt. */
  onReject?(request: Request): Promise<void>;
}

/** The options of a route that takes a page's form: its body is read, and what our own page did not send is refused. */
export function formOptions(declared: RouteDeclaration = {}, { onReject }: FormRules = {}): RouteOptions {
  return {
    payload: { allow: ['application/x-www-form-urlencoded'], maxBytes: MAX_FORM_BYTES },
    plugins: { civic: { ...declared, internal: true, form: true } },
    ext: { onPostAuth: { method: onReject ? (request, h) => refuseAfter(request, h, onReject) : refuseForeign } },
  };
}

/** Ties the forms of this reader's pages to their session: what others cannot read, they cannot make a token from. */
export function bindForms(request: Request, sessionSecret: string): void {
  request.civic.formToken = createHmac('sha256', sessionSecret).update('form').digest('base64url');
}

async function refuseAfter(request: Request, h: ResponseToolkit, onReject: (request: Request) => Promise<void>): Promise<symbol> {
  try {
    return refuseForeign(request, h);
  } catch (error) {
    await onReject(request);
    throw error;
  }
}

/** Browsers say where a form comes from; the token holds where they do not. */
function refuseForeign(request: Request, h: ResponseToolkit): symbol {
  if (!comesFromOurPage(request)) throw problem('foreign_form', { detail: `Forms of this instance are sent from its own pages at ${request.server.app.civic.publicUrl}/.` });
  const fields = request.payload as Record<string, unknown> | null;
  const { formToken } = request.civic;
  if (formToken !== null && !isSame(String(fields?.[TOKEN] ?? ''), formToken)) throw problem('stale_form');
  if (fields) delete fields[TOKEN];
  return h.continue;
}

/** Programs that say nothing of a page are let through. */
export function comesFromOurPage({ headers, server }: Request): boolean {
  const site = headers['sec-fetch-site'] as string | undefined;
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const origin = headers['origin'] as string | undefined;
  return origin === undefined || origin === new URL(server.app.civic.publicUrl).origin;
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export interface ReadForm<Values> {
  /** What was filled in, checked; null when something is wrong. */
  values: Values | null;
  /** What to say beside each field. */
  errors: Record<string, string>;
  /** As it was sent, to be shown again. */
  given: Record<string, unknown>;
}

const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** A form against its schema, so that a page can say beside each field what is wrong with it. */
export function readForm<Values>(request: Request, schema: ObjectSchema<Values>): ReadForm<Values> {
  const given = { ...(request.payload as Record<string, unknown> | null) };
  const odd = Object.entries(given).find(([, value]) => [value].flat().some((one) => UNSTORABLE.test(String(one))));
  if (odd) return { values: null, errors: { [odd[0]]: 'This holds a character that cannot be stored.' }, given };
  const { value, error } = schema.validate(given, { abortEarly: false, convert: true, stripUnknown: true, errors: { wrap: { label: false } } });
  if (!error) return { values: value as Values, errors: {}, given };
  const errors: Record<string, string> = {};
  for (const { path, message } of error.details) errors[String(path[0] ?? '')] ??= sentence(message);
  return { values: null, errors, given };
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'}`;
}
