import { Failure, foldText, Joi, type ConfigFragment } from 'civic';
import { distance } from 'fastest-levenshtein';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMap, isSeq, Lexer, LineCounter, parseDocument, Parser, type Document, type Node } from 'yaml';
import { isDeepYaml } from '../nesting.ts';

/** What domains and issue areas have in common. */
export interface Topic {
  slug: string;
  name: string;
  description: string;
  search_terms: string[];
}

export interface Domain extends Topic {
  issue_areas: IssueArea[];
}

export interface IssueArea extends Topic {
  domain: Domain;
}

export interface TaxonomyFile {
  path: string;
  /** Changes with the content. */
  hash: string;
  domains: Domain[];
}

export const taxonomyOptions = {
  taxonomy_file: { doc: 'The file of domains and issue areas; null is config/taxonomy.yaml of the kit.', format: 'path', default: null, nullable: true },
} satisfies ConfigFragment;

type Path = (string | number)[];

interface Mistake {
  line: number;
  message: string;
}

interface Fault {
  path: Path;
  message: string;
}

const SLUGS = {
  domain: { form: /^[a-z0-9]+(-[a-z0-9]+)*$/, joint: '-', words: 'hyphens' },
  'issue area': { form: /^[a-z0-9]+(_[a-z0-9]+)*$/, joint: '_', words: 'underscores' },
};

const topic = (kind: keyof typeof SLUGS) => ({
  slug: Joi.string().pattern(SLUGS[kind].form).required(),
  name: Joi.string().required(),
  description: Joi.string().required(),
  search_terms: Joi.array().items(Joi.string()).min(1).required(),
});
const issueArea = Joi.object(topic('issue area'));
const domain = Joi.object({ ...topic('domain'), issue_areas: Joi.array().items(issueArea).min(1).required() });
const content = Joi.object({ domains: Joi.array().items(domain).min(1).required() });
const KEYS = { file: ['domains'], domain: [...Object.keys(topic('domain')), 'issue_areas'], 'issue area': Object.keys(topic('issue area')) };

const KIT_FILE = fileURLToPath(new URL('config/taxonomy.yaml', import.meta.resolve('civic/package.json')));

/** Reads and checks a taxonomy; null is the kit's own. All its mistakes are told at once, as one Failure. */
export function readTaxonomy(file: string | null): TaxonomyFile {
  const path = file ?? KIT_FILE;
  const text = textOf(path);
  const hash = createHash('sha256').update(text).digest('hex');
  const domains = preparedDomains(hash) ?? checkedDomains(path, text);
  return { path, hash: hash.slice(0, 16), domains: domains.map(linked) };
}

type WrittenDomain = Topic & { issue_areas: Topic[] };

function checkedDomains(path: string, text: string): WrittenDomain[] {
  const { value, mistakes } = parse(text);
  if (mistakes.length > 0) {
    const head = mistakes.length === 1 ? 'has a mistake' : `has ${mistakes.length} mistakes`;
    const lines = mistakes.toSorted((one, other) => one.line - other.line).map(({ line, message }) => `  ${path}:${line}: ${message}`);
    throw new Failure([`The taxonomy ${head}:`, ...lines].join('\n'));
  }
  return (value as { domains: WrittenDomain[] }).domains;
}

const PREPARED = join(import.meta.dirname, 'taxonomy.json');

/** Writes the kit's own taxonomy as JSON, which is read in a hundredth of the time. */
export function prepareTaxonomy(): void {
  const text = textOf(KIT_FILE);
  writeFileSync(PREPARED, JSON.stringify({ hash: createHash('sha256').update(text).digest('hex'), domains: checkedDomains(KIT_FILE, text) }));
}

/** Returns the domains that the build prepared from a file of exactly this content; null when the content is another, or the prepared file is missing or damaged. */
function preparedDomains(hash: string): WrittenDomain[] | null {
  try {
    const prepared = JSON.parse(readFileSync(PREPARED, 'utf8')) as { hash: string; domains: WrittenDomain[] };
    return prepared.hash === hash ? prepared.domains : null;
  } catch {
    return null;
  }
}

function linked({ issue_areas, ...own }: WrittenDomain): Domain {
  const domain: Domain = { ...own, issue_areas: [] };
  domain.issue_areas = issue_areas.map((area) => ({ ...area, domain }));
  return domain;
}

function textOf(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reasons: Record<string, string> = { ENOENT: 'does not exist', EISDIR: 'is a folder', EACCES: 'may not be read by this user', ERR_ENCODING_INVALID_ENCODED_DATA: 'is not a text in UTF-8' };
    throw new Failure(`The taxonomy ${path} ${reasons[code ?? ''] ?? `cannot be read (${code})`}: see plugins.directory.taxonomy_file`);
  }
}

function parse(text: string): { value: unknown; mistakes: Mistake[] } {
  if (isDeepYaml({ Lexer, Parser }, text)) return { value: null, mistakes: [{ line: 1, message: 'the file is nested too deeply' }] };
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, schema: 'core' });
    // One slip of syntax makes everything behind it look wrong, so only the first is told.
    const [slip] = [...document.errors, ...document.warnings];
    if (slip) return { value: null, mistakes: [{ line: lines.linePos(slip.pos[0]).line, message: syntaxWords(slip) }] };
    const value: unknown = document.toJS();
    const lineOf = (path: Path) => lines.linePos(offsetOf(document, path)).line;
    const faults = [...shapeFaults(value), ...repeatedSlugs(value, lineOf)];
    return { value, mistakes: faults.map(({ path, message }) => ({ line: lineOf(path), message })) };
  } catch (error) {
    // Aliases are followed only here, and may lead nowhere or multiply what they repeat.
    return { value: null, mistakes: [{ line: 1, message: syntaxWords(error as Error) }] };
  }
}

function syntaxWords({ message }: Error): string {
  return `this is not valid YAML: ${printable(message).slice(0, 200)}`;
}

/** Where a path stands in the file, or the nearest thing around it that does. */
function offsetOf(document: Document, path: Path): number {
  let node = document.contents;
  let offset = 0;
  for (const step of path) {
    const pair = isMap(node) ? node.items.find(({ key }) => String(key) === step) : undefined;
    const value = pair ? pair.value : isSeq(node) ? node.items[step as number] : undefined;
    if (!pair && !value) break;
    node = value as Node | null;
    offset = ((pair?.key ?? value) as Node).range?.[0] ?? offset;
  }
  return offset;
}

function shapeFaults(value: unknown): Fault[] {
  const { error } = content.validate(value, { abortEarly: false, convert: false });
  return (error?.details ?? []).map(({ type, path, context }) => ({ path, message: words(type, path, context?.value, value) }));
}

function words(type: string, path: Path, given: unknown, root: unknown): string {
  const [kind, subject] = subjectOf(path, root);
  const isTerm = typeof path.at(-1) === 'number' && path.at(-2) === 'search_terms';
  const key = isTerm ? 'search term' : String(path.at(-1));
  if (type === 'object.unknown') return `${subject} has an unknown key ${shown(key)}: ${nearKey(key, KEYS[kind])}`;
  if (type === 'object.base') return `${subject} must be a map with ${KEYS[kind].join(', ')}`;
  if (type === 'array.min') return `${subject} has no ${key}: the list is empty`;
  if (type === 'array.base' && given !== null) return `${subject} has ${key} that are not a list`;
  if (type === 'string.base' && given !== null) return `${subject} has a ${key} that is not a text: put it in quotes`;
  if (type === 'string.pattern.base' && kind !== 'file') return `${subject} has a slug of the wrong form: ${rightSlug(String(given), kind)}`;
  return isTerm ? `${subject} has an empty search term` : `${subject} has no ${key}`;
}

/** Whose mistake it is, as its reader knows it. */
function subjectOf(path: Path, root: unknown): [kind: keyof typeof KEYS, subject: string] {
  if (path.length < 2) return ['file', 'the file'];
  const isArea = path[2] === 'issue_areas' && path.length > 3;
  const owner = path.slice(0, isArea ? 4 : 2).reduce<any>((value, step) => value?.[step], root);
  const kind = isArea ? 'issue area' : 'domain';
  const name: unknown = owner?.slug || owner?.name;
  return [kind, typeof name === 'string' ? `the ${kind} ${shown(name)}` : `this ${kind}`];
}

function nearKey(key: string, known: string[]): string {
  const near = known.toSorted((one, other) => distance(key, one) - distance(key, other))[0]!;
  return distance(key, near) <= 3 ? `did you mean ${near}?` : `there are ${known.join(', ')}`;
}

function rightSlug(given: string, kind: keyof typeof SLUGS): string {
  const { joint, words } = SLUGS[kind];
  const right = foldText(given).match(/[a-z0-9]+/g)?.join(joint).slice(0, 60);
  return `use lower-case letters, digits and ${words}${right ? `, such as ${right}` : ''}`;
}

/** Filters take the slug of either, so one slug must not mean two things. */
function repeatedSlugs(root: unknown, lineOf: (path: Path) => number): Fault[] {
  const first = new Map<string, number>();
  const faults: Fault[] = [];
  const look = (topic: any, path: Path) => {
    const slug: unknown = topic?.slug;
    if (typeof slug !== 'string' || !slug) return;
    const line = first.get(slug);
    if (line) faults.push({ path: [...path, 'slug'], message: `the slug ${shown(slug)} is given twice, first on line ${line}` });
    else first.set(slug, lineOf([...path, 'slug']));
  };
  listOf((root as any)?.domains).forEach((domain: any, at) => {
    look(domain, ['domains', at]);
    listOf(domain?.issue_areas).forEach((area, inner) => { look(area, ['domains', at, 'issue_areas', inner]); });
  });
  return faults;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function shown(text: string): string {
  return `"${printable(text).slice(0, 60)}"`;
}

/** Replaces what a terminal would act upon. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, ' ');
}
