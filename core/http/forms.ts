import type { Request, ResponseToolkit, RouteOptions } from '@hapi/hapi';
import type { ObjectSchema, ValidationErrorItem } from 'joi';
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RouteDeclaration } from '../plugin.ts';
import { problem } from '../problems.ts';
import { MAX_BODY_BYTES } from './body.ts';
import type { Texts } from '../texts/texts.ts';

const MAX_FORM_BYTES = 64 * 1024;
const TOKEN = 'form_token';

export interface FormRules {
  /** Called before a cross-site or expired form is rejected, such as to record the attempt. */
  onReject?(request: Request): Promise<void>;
  /** Whether the form may have as many bytes as a body of the API, for long texts: a form takes up to nine bytes for a character. */
  isLong?: boolean;
}

/** Returns the options of a route that accepts a form: they parse the body, and reject forms that no page of this instance sent. */
export function formOptions(declared: RouteDeclaration = {}, { onReject, isLong = false }: FormRules = {}): RouteOptions {
  return {
    payload: { allow: ['application/x-www-form-urlencoded'], maxBytes: isLong ? MAX_BODY_BYTES : MAX_FORM_BYTES },
    plugins: { civic: { ...declared, internal: true, form: true } },
    ext: { onPostAuth: { method: onReject ? (request, h) => rejectAfterReport(request, h, onReject) : rejectForeign } },
  };
}

/** Binds the forms of a request's pages to its session: the token is derived from the session secret, which other sites cannot read. */
export function bindForms(request: Request, sessionSecret: string): void {
  request.civic.formToken = createHmac('sha256', sessionSecret).update('form').digest('base64url');
}

async function rejectAfterReport(request: Request, h: ResponseToolkit, onReject: (request: Request) => Promise<void>): Promise<symbol> {
  try {
    return rejectForeign(request, h);
  } catch (error) {
    await onReject(request);
    throw error;
  }
}

/** Rejects cross-site and expired forms: by the headers of the browser, and by the form token for browsers that do not send them. */
function rejectForeign(request: Request, h: ResponseToolkit): symbol {
  const { publicUrl } = request.server.app.civic;
  if (!comesFromOurPage(request)) throw problem('foreign_form', { detail: `Forms of this instance are sent from its own pages at ${publicUrl}/.` });
  const fields = request.payload as Record<string, unknown> | null;
  const { formToken } = request.civic;
  if (formToken !== null && !isSame(String(fields?.[TOKEN] ?? ''), formToken)) throw problem('stale_form');
  if (fields) delete fields[TOKEN];
  return h.continue;
}

/** Returns false for a request that the browser marks as cross-site. Programs send neither header and pass. */
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
  /** The validated fields; null when one is invalid. */
  values: Values | null;
  /** The error text of each invalid field. */
  errors: Record<string, string>;
  /** The fields as they were sent, to fill the form again. */
  given: Record<string, unknown>;
}

const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** Validates a form, and returns the errors by field for the page: in the language of `t`, or in English. */
export function readForm<Values>(request: Request, schema: ObjectSchema<Values>, t?: Texts): ReadForm<Values> {
  const given = { ...(request.payload as Record<string, unknown> | null) };
  const odd = Object.entries(given).find(([, value]) => [value].flat().some((one) => UNSTORABLE.test(String(one))));
  if (odd) return { values: null, errors: { [odd[0]]: t ? t('core.form.character') : 'This holds a character that cannot be stored.' }, given };
  const { value, error } = schema.validate(given, { abortEarly: false, convert: true, stripUnknown: true, errors: { wrap: { label: false } } });
  if (!error) return { values: value as Values, errors: {}, given };
  const errors: Record<string, string> = {};
  for (const detail of error.details) errors[String(detail.path[0] ?? '')] ??= t ? translated(detail, t) : sentence(detail.message);
  return { values: null, errors, given };
}

const KEY = /^[a-z]\w*(\.\w+)+$/;

/** The texts of core for the rules of Joi. */
const FORM_TEXTS: Record<string, string> = {
  'any.required': 'core.form.required', 'string.empty': 'core.form.required', 'any.only': 'core.form.choose', 'array.min': 'core.form.choose',
  'string.max': 'core.form.too_long', 'string.min': 'core.form.too_short', 'string.email': 'core.form.email', 'string.uri': 'core.form.uri',
  'number.base': 'core.form.number', 'number.integer': 'core.form.integer', 'number.min': 'core.form.minimum', 'number.max': 'core.form.maximum',
  'date.base': 'core.form.date', 'date.format': 'core.form.date', 'string.isoDate': 'core.form.date',
};

/** Returns the text that the schema names as the message of a rule, else core's text for the rule. */
function translated({ context, message, type }: ValidationErrorItem, texts: Texts): string {
  const key = KEY.test(message) ? message : FORM_TEXTS[type] ?? 'core.form.invalid';
  return texts(key, { limit: context?.['limit'] as unknown });
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'}`;
}
