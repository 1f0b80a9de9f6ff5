import { Candidates } from './candidates.ts';
import type { Line } from './lines.ts';
import { LOWER_ROLE } from './roles.ts';
import { rangeOf, spansOf, type Token } from './spans.ts';
import { foldWord, type TextIndex } from './text.ts';
import { FIRST_NAMES, WEAK_FIRST_NAMES } from './words/first-names.ts';
import { LABEL_WORDS, LEADS, PLACE_WORDS, STREET_WORDS } from './words/labels.ts';
import { LEGAL_FORMS, STRONG_WORDS, TRADE_WORDS } from './words/organizations.ts';
import { DEGREES, GENERATIONS, HONORIFICS, isRole, OFFICE_PARTS, OFFICES, ROLE_WORDS } from './words/roles.ts';
import { SURNAMES } from './words/surnames.ts';

const PARTICLES = new Set(['de', 'del', 'la', 'las', 'los', 'van', 'von', 'der', 'den', 'da', 'dos', 'y']);
const MOST_WORDS = 5;

/** A name in a span, with the office before it. */
interface NamePart {
  name: Token[];
  office: Token[];
}

/** Collects what may be the name of a person. */
export function personCandidates(lines: Line[], tokens: Token[][], index: TextIndex): Candidates {
  const found = new Candidates();
  const shares = sharesOfGroups(lines, tokens);
  for (const [at, line] of lines.entries()) {
    for (const span of spansOf(tokens[at]!)) {
      for (const part of namesIn(span)) {
        const shape = shapeOf(part, index);
        const range = rangeOf(part.name);
        const context = contextOf(range, line, lines, shares);
        if (part.office.length > 0) context.push('office');
        if (span.length > part.name.length + part.office.length) context.push('part_of_run');
        const name = line.text.slice(range.start - line.start, range.end - line.start);
        const weight = context.filter((feature) => STAFF_CONTEXT.has(feature)).length;
        if (shape.includes('first') || weight > 0) found.add(name, range, line, [...shape, ...context], weight, part.office.length > 0 ? rangeOf(part.office) : null);
      }
    }
  }
  return found;
}

/** Only in such a place a name counts whose first word is in no table. */
const STAFF_CONTEXT = new Set(['office', 'role_after', 'role_near', 'email_match', 'name_column', 'group_of_names', 'class_person']);

/** Splits a span into names: at offices, honorifics and connecting words. */
function namesIn(span: Token[]): NamePart[] {
  const parts: NamePart[] = [];
  let name: Token[] = [];
  let office: Token[] = [];
  const end = () => {
    const trimmed = withoutDegrees(name);
    if (isName(trimmed)) parts.push({ name: trimmed, office });
    [name, office] = [[], []];
  };
  for (const [at, token] of span.entries()) {
    const { folded, kind, text } = token;
    if (name.length === 0 && (OFFICES.has(folded) || HONORIFICS.has(folded) || (OFFICE_PARTS.has(folded) && span[at + 1]?.kind === 'capital'))) office.push(token);
    else if (isOfficeInside(token, span, at)) {
      end();
      office.push(token);
    } else if (kind === 'capital' || (name.length > 0 && PARTICLES.has(text))) name.push(token);
    else end();
  }
  end();
  return parts;
}

/** `Members and Mayor Jane Doe`: what is before an office is no part of the name. */
function isOfficeInside({ folded }: Token, span: Token[], at: number): boolean {
  return OFFICES.has(folded) && span.length - at >= 3 && FIRST_NAMES.has(span[at + 1]!.folded);
}

function withoutDegrees(name: Token[]): Token[] {
  let end = name.length;
  while (end > 2 && DEGREES.has(name[end - 1]!.folded) && name[end - 1]!.text !== capitalized(name[end - 1]!.text)) end--;
  return name.slice(0, end);
}

function capitalized(text: string): string {
  return text.charAt(0) + text.slice(1).toLowerCase();
}

function isName(name: Token[]): boolean {
  if (name.length < 2 || name.length > MOST_WORDS || name.some(({ text }) => /\d/.test(text))) return false;
  const last = name.at(-1)!;
  if (last.kind !== 'capital' || (last.folded.length < 2 && name.length === 2) || name[0]!.folded.length < 1) return false;
  return name.every(({ folded, text }) => (!LEGAL_FORMS.has(folded) || folded.length < 3) && !/^[A-Z]{5,}$/.test(text) || FIRST_NAMES.has(name[0]!.folded))
    && !LEADS.has(name[0]!.folded) && !name.some(({ folded, text }) => STREET_WORDS.has(folded) && text !== 'St.' && folded !== 'pike');
}

/** Features of the words of a name. */
function shapeOf({ name }: NamePart, index: TextIndex): string[] {
  const words = name.map(({ folded }) => folded);
  const first = words[0]!;
  const core = words.filter((word) => !GENERATIONS.has(word) && !PARTICLES.has(word));
  const last = core.at(-1)!;
  const features = [`words_${Math.min(core.length, 4)}`];
  const isInitial = (word: string) => word.length === 1 || (word.length === 2 && !/[aeiouy]/.test(word));
  if (FIRST_NAMES.has(first)) features.push(...(WEAK_FIRST_NAMES.has(first) ? ['first', 'weak_first'] : ['first']));
  else if (isInitial(first) && core.length > 2 && FIRST_NAMES.has(words[1]!)) features.push('first');
  else if (isInitial(first)) features.push('initial_first');
  if (core.slice(1, -1).some(isInitial)) features.push('initial');
  if (SURNAMES.has(last)) features.push('surname');
  if (FIRST_NAMES.has(last)) features.push('last_is_first');
  if (words.some((word) => GENERATIONS.has(word))) features.push('generation');
  const others = words.filter((word) => !FIRST_NAMES.has(word) && !SURNAMES.has(word));
  if (others.some((word) => LABEL_WORDS.has(word) || ROLE_WORDS.has(word))) features.push('label_word');
  if (others.some((word) => STRONG_WORDS.has(word) || TRADE_WORDS.has(word))) features.push('organization_word');
  if (words.some((word) => PLACE_WORDS.has(word))) features.push('place_word');
  if (others.some((word) => index.lowercase(word) > 0)) features.push('common_word');
  if (name.every(({ text }) => text.length > 1 && text === text.toUpperCase())) features.push('upper');
  return features;
}

/** Features of where a name stands. */
function contextOf({ start, end }: { start: number; end: number }, line: Line, lines: Line[], shares: Map<number, number>): string[] {
  const features: string[] = [];
  const before = line.text.slice(0, start - line.start);
  const after = line.text.slice(end - line.start);
  const isWhole = isNameList(line.text) || (isBlank(before) && isBlank(after));
  const [above, below] = [lines[line.number - 1], lines[line.number + 1]];
  if (isWhole) features.push('whole_line');
  if (/^\s*(?:,|[-–—|:(/])\s*/.test(after) && isRole(after.replace(/^[\s,–—|:(/-]+/, '').split(/[;|)@\d]|\s[-–—]\s/)[0]!.trim())) features.push('role_after');
  if (/[:,–—|-]\s*$/.test(before) && isRole(before.replace(/[\s:,–—|-]+$/, '').trim())) features.push('role_after');
  if (isBlank(before) && isNear(line, below) && below!.isRole) features.push('role_near');
  if (isNear(line, above) && above!.isRole && line.text.length < 60 && !line.isRole) features.push('role_near');
  if (isBlank(before) && (line.hasContact || (isNear(line, below) && below!.hasContact))) features.push('contact_near');
  if (hasAddressOf(line.text.slice(start - line.start, end - line.start), [line, below, lines[line.number + 2], lines[line.number + 3]])) features.push('email_match');
  if (/\bname\b|\bmember|\bnombre|\bofficer|\bcontact\b|\bperson\b|\bstaff/.test(line.column)) features.push('name_column');
  if (/\b(?:staff|team|board|people|person|member|trustee|bio|author|byline|fn|vcard|directory|profile|employee|council)/.test(line.classes)) features.push('class_person');
  if (/nav|menu|breadcrumb/.test(line.classes)) features.push('class_nav');
  if (line.group !== null && (shares.get(line.group) ?? 0) >= 0.5) features.push('group_of_names');
  if (line.isProse) features.push('prose');
  if (line.level !== null) features.push('heading');
  if (line.isLinked && isWhole) features.push('link_alone');
  if (line.isMain) features.push('main');
  if (line.isAddress) features.push('in_address');
  if (isWhole && below?.isAddress) features.push('before_address');
  if (/(?:contact|attn|attention|by|from|with|director|president|manager|mayor|owner|chair|founder|author|contacto)[:\s]*$/i.test(before.slice(-30))) features.push('introduced');
  if (/(?:\b(?:in|at|near|en|inside)(?: the| el| la)?|@)\s*$/i.test(before)) features.push('located');
  if (LOWER_ROLE.test(after)) features.push('role_after');
  if (/^(?:,?\s+(?:said|says|is|was|has|will|serves|joined|and his|and her|who))\b/.test(after)) features.push('before_verb');
  return features;
}

function isBlank(text: string): boolean {
  return !/[\p{L}\p{N}]/u.test(text);
}

/** Whether a line has nothing but capitalized pairs and triples of words: `Jane Doe, Maria de la Cruz and John Roe`. */
function isNameList(text: string): boolean {
  const parts = text.length < 200 ? text.split(/\s*(?:,|;|&|\band\b|\by\b)\s*/) : [];
  return parts.length > 1 && parts.every((part) => /^\p{Lu}[\p{L}.'’-]*(?: (?:de|del|la|van|von|der))*(?: \p{Lu}[\p{L}.'’-]*){1,2}$/u.test(part)) && parts.some((part) => FIRST_NAMES.has(foldWord(part.split(' ')[0]!)));
}

function isNear(line: Line, other: Line | undefined): boolean {
  return other !== undefined && (other.item === line.item || line.item === null || other.item === null) && Math.abs(other.block - line.block) <= 2;
}

/** Whether one of the lines has an address of e-mail with the last name, or the first name, of a person. */
function hasAddressOf(name: string, near: (Line | undefined)[]): boolean {
  const words = name.toLowerCase().split(/[\s.]+/).filter((word) => word.length > 2);
  for (const line of near) {
    if (!line) continue;
    const address = /([\w.+-]{2,64})@/.exec(line.text)?.[1] ?? line.links.find(({ url }) => url.startsWith('mailto:'))?.url.slice(7).split('@')[0];
    if (address && words.some((word) => address.toLowerCase().includes(word))) return true;
  }
  return false;
}

/** Returns for each group of repeated siblings the part of its items that have a line like a name. */
function sharesOfGroups(lines: Line[], tokens: Token[][]): Map<number, number> {
  const items = new Map<number, Map<number, boolean>>();
  for (const [at, { group, item, isProse }] of lines.entries()) {
    if (group === null || item === null || isProse) continue;
    const known = items.get(group) ?? new Map<number, boolean>();
    items.set(group, known);
    const words = tokens[at]!.filter(({ kind }) => kind === 'capital');
    const isLike = words.length >= 2 && words.length <= 8 && words.slice(0, 3).some(({ folded }, place) => FIRST_NAMES.has(folded) && words[place + 1] !== undefined && !LABEL_WORDS.has(words[place + 1]!.folded));
    known.set(item, (known.get(item) ?? false) || isLike);
  }
  return new Map([...items].map(([group, known]) => [group, known.size < 2 ? 0 : [...known.values()].filter(Boolean).length / known.size]));
}
