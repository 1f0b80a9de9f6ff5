import { isObject, objectsOf, passagesOf, textField, type JsonObject } from '../text/json.ts';
import { cleanTitle, plainText } from '../text/titles.ts';
import type { Adapter, FilingRow, Passage, PostRow } from './types.ts';

const PATH = /\/api\/v1\/documents\.json$/;
const FIELDS = ['document_number', 'title', 'type', 'abstract', 'html_url', 'publication_date', 'comments_close_on', 'agencies'];
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const MOST_ROWS = 1000;
const LONGEST_SUMMARY = 900;

/** The documents of the United States Federal Register: those that are open for comments, and others as filings. */
export const federalRegister: Adapter = {
  name: 'federal_register',
  label: 'Federal Register',
  source_class: 'government_record',
  recognises: (document) => objectsOf(document, isDocument).length > 0 ? 0.95 : 0,
  request: (url) => withFields(url),
  rows(document) {
    const passageOf = passagesOf(document.body ?? '', ['document_number']);
    return objectsOf(document, isDocument).slice(0, MOST_ROWS).map((record) => rowOf(record, passageOf));
  },
};

function isDocument(object: JsonObject): boolean {
  return typeof object.document_number === 'string' && typeof object.title === 'string' && typeof object.publication_date === 'string';
}

/** The API leaves out when comments close unless it is asked for. */
function withFields(text: string): string {
  const url = new URL(text);
  if (!PATH.test(url.pathname)) return text;
  for (const field of FIELDS) if (!url.searchParams.getAll('fields[]').includes(field)) url.searchParams.append('fields[]', field);
  if (!url.searchParams.has('per_page')) url.searchParams.set('per_page', '100');
  if (!url.searchParams.has('order')) url.searchParams.set('order', 'newest');
  return url.href;
}

function rowOf(record: JsonObject, passageOf: (id: string) => Passage | null): PostRow | FilingRow {
  const number = String(record.document_number);
  const title = cleanTitle(plainText(String(record.title)));
  const published = DATE.test(String(record.publication_date)) ? String(record.publication_date) : null;
  const [agency] = agenciesOf(record);
  const common = { key: number, title, url: textField(record, ['html_url']), passage: passageOf(number) };
  const closes = record.comments_close_on;
  if (typeof closes === 'string' && DATE.test(closes)) {
    const abstract = cleanTitle(plainText(textField(record, ['abstract']) ?? ''));
    return { kind: 'post', ...common, topic: 'public_comment', published, summary: `Comments close on ${closes}.${abstract ? ` ${abstract.slice(0, LONGEST_SUMMARY)}` : ''}`, actors: agency ? [{ name: agency, role: 'body' }] : [] };
  }
  return { kind: 'filing', ...common, number, type: textField(record, ['type']), status: null, body: agency ?? null, introduced: published, sponsors: null, actions: null };
}

/** The last agency is the one that acts; those before it are its departments. */
function agenciesOf({ agencies }: JsonObject): string[] {
  const names = (Array.isArray(agencies) ? agencies : []).filter(isObject).flatMap(({ name, raw_name: raw }) => typeof name === 'string' ? [name] : typeof raw === 'string' ? [raw] : []);
  return names.toReversed();
}
