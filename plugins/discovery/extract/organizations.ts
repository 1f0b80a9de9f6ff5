import type { Range } from 'civic/reader';
import { Candidates } from './candidates.ts';
import { startsOf, type Identity } from './identity.ts';
import type { Line } from './lines.ts';
import { isLegalForm, rangeOf, spansOf, tokensOf, type Token } from './spans.ts';
import { foldName, foldWord, type TextIndex } from './text.ts';
import { FIRST_NAMES } from './words/first-names.ts';
import { LABEL_WORDS, LEADS, PLACE_WORDS, STREET_WORDS } from './words/labels.ts';
import { BODY_HEADS, STRONG_WORDS, TRADE_WORDS } from './words/organizations.ts';
import { HONORIFICS, ROLE_WORDS } from './words/roles.ts';
import { SURNAMES } from './words/surnames.ts';

const COPYRIGHT = /(?:©|\(c\)|&copy;|\bcopyright\b|\bderechos reservados\b)[\s,:©]*(?:\(c\))?(?:copyright|by|de)?[\s,:©]*(?:\d{4}(?:\s*[-–,]\s*(?:\d{2,4}|present))?[\s,.:-]*)?(?:©[\s\d]*|by\s+|de\s+)?/i;

const MOST_WORDS = 12;
/** A text with one of these names a meeting or its papers. */
const MEETING_WORDS = new Set(['meeting', 'meetings', 'minutes', 'agenda', 'agendas', 'hearing', 'hearings', 'reunion', 'reuniones']);

/** Headings of lists whose items are organizations. */
const MEMBER_LIST = /\b(?:partners?|allies|coalition|member (?:organi[sz]ations|groups|agencies)|supporting organi[sz]ations|sponsors|socios|aliad[oa]s|coalición|organizaciones)\b/i;

/** Collects what may be the name of an organization. */
export function organizationCandidates(lines: Line[], tokens: Token[][], identity: Identity, index: TextIndex): Candidates {
  const found = new Candidates();
  for (const { name, range, feature } of identity.visible) if (!foldName(name).split(' ').some((word) => MEETING_WORDS.has(word))) found.add(name, range, null, [`by_${feature}`, ...shapeOf(tokensOf({ text: name, start: 0 })), ...identityFeatures(name, identity)]);
  let heading = '';
  for (const [at, line] of lines.entries()) {
    if (line.level !== null) heading = line.text;
    const copyright = COPYRIGHT.exec(line.text.slice(0, 300));
    const holderAt = copyright ? line.start + copyright.index + copyright[0].length : -1;
    const spans = spansOf(tokens[at]!);
    for (const span of spans) {
      for (const part of partsOf(span)) addSpan(part, span, line, holderAt, MEMBER_LIST.test(heading));
    }
  }

  function addSpan(part: Token[], span: Token[], line: Line, holderAt: number, isInMemberList: boolean): void {
    const range = rangeOf(part);
    const name = line.text.slice(range.start - line.start, range.end - line.start);
    const isWhole = range.start - line.start <= 1 && line.end - range.end <= 2;
    const features = [...shapeOf(part), ...identityFeatures(name, identity), ...contextOf(range, line, lines, isWhole)];
    if (part.every(({ kind, folded }) => kind === 'mark' || index.lowercase(folded) > 0)) features.push('common_words');
    if (Math.abs(range.start - holderAt) <= 4) features.push('copyright');
    if (part.length < span.length) features.push('part_of_run');
    if (isInMemberList && isWhole && line.item !== null && features.some((feature) => feature === 'strong' || feature === 'legal' || feature === 'trade_end')) features.push('listed_member');
    if (features.some((feature) => PROMISING.has(feature))) found.add(name, range, line, features);
  }
  return found;
}

/** Only a text with one of these is kept: nearly every capitalized word would be a candidate else. */
const PROMISING = new Set(['legal', 'strong', 'trade_end', 'body', 'copyright', 'host', 'host_start', 'title_part', 'in_title', 'site_name', 'before_address', 'before_contact', 'class_org', 'employer']);

/** Returns the span without words before and after that are no part of the name; and parts of it that may be names by themselves. */
function partsOf(span: Token[]): Token[][] {
  let start = 0;
  while (start < span.length - 1 && LEADS.has(span[start]!.folded)) start++;
  while (start < span.length - 1 && span[start]!.kind !== 'capital') start++;
  const whole = withoutTail(span.slice(start));
  const parts = [whole];
  const cut = whole.findIndex(({ text }, at) => at > 0 && (text === 'at' || text === 'in' || text === 'for' || text === 'with' || text === 'on' || text === 'to'));
  if (cut > 0) parts.push(whole.slice(0, cut));
  const and = whole.findIndex(({ text }, at) => at > 0 && text === 'and');
  if (and > 0) parts.push(whole.slice(0, and), whole.slice(and + 1));
  return parts.filter((part) => part.length > 0 && part.length <= MOST_WORDS && part[0]!.kind === 'capital' && !part.some(({ folded }) => MEETING_WORDS.has(folded)));
}

/** A legal form ends a name: `Example, Inc. Site Map`. */
function withoutTail(span: Token[]): Token[] {
  let end = span.findIndex((token, at) => at > 0 && isLegalForm(token)) + 1;
  while (end > 0 && isLegalForm(span[end])) end++;
  const after = span[end];
  return end === 0 || after === undefined || after.text === 'of' || after.text === '&' || after.text === 'and' || after.text === 'for' ? span : span.slice(0, end);
}

/** Features of the words of a name. */
function shapeOf(part: Token[]): string[] {
  const words = part.map(({ folded }) => folded).filter(Boolean);
  if (words.length === 0) return [];
  const features = [`words_${Math.min(words.length, 6)}`];
  const last = words.at(-1)!;
  if (part.some((token, at) => at > 0 && isLegalForm(token))) features.push('legal');
  if (words.length > 1 && words.some((word) => STRONG_WORDS.has(word))) features.push('strong', STRONG_WORDS.has(last) ? 'strong_end' : 'strong_inside');
  if (words.length > 1 && TRADE_WORDS.has(last)) features.push('trade_end');
  if (words.length > 2 && BODY_HEADS.has(words[0]!) && (words[1] === 'of' || words[1] === 'de')) features.push('body');
  if (words.every((word) => LABEL_WORDS.has(word))) features.push('label');
  else if (words.every(isGeneric)) features.push('generic');
  else if (words.some((word) => LABEL_WORDS.has(word) && word !== 'of' && word !== 'the' && word !== 'and' && word !== 'for' && !TRADE_WORDS.has(word) && !STRONG_WORDS.has(word))) features.push('some_label');
  if (words.every((word) => PLACE_WORDS.has(word))) features.push('place');
  if (words.some((word) => STREET_WORDS.has(word)) && part.some(({ text }) => /^\d/.test(text))) features.push('street');
  if (HONORIFICS.has(words[0]!) || (words.length <= 3 && FIRST_NAMES.has(words[0]!) && (SURNAMES.has(last) || !features.includes('trade_end')) && !features.includes('strong'))) features.push('like_person');
  if (ROLE_WORDS.has(last) || ROLE_WORDS.has(words[0]!)) features.push('role_word');
  if (words[0] === 'the') features.push('the');
  if (part.some(({ text }) => text === '&')) features.push('ampersand');
  if (part.every(({ text, kind }) => kind !== 'capital' || text === text.toUpperCase())) features.push('upper');
  if (/^\d+$/.test(part[0]!.text)) features.push('number_first');
  return features;
}

/** `Board of Trustees` and `City Council` name a body only together with a place. */
function isGeneric(word: string): boolean {
  return LABEL_WORDS.has(word) || STRONG_WORDS.has(word) || ROLE_WORDS.has(word) || ROLE_WORDS.has(word.replace(/s$/, ''));
}

function identityFeatures(name: string, { titles, stated, site, hosts, hostStarts }: Identity): string[] {
  const key = foldName(name);
  const features: string[] = [];
  if (titles.has(key)) features.push('title_part');
  else if (stated.includes(` ${key} `)) features.push('in_title');
  if (site === key) features.push('site_name');
  const compact = key.replaceAll(/ |^the /g, '');
  const bare = key.replace(/ (?:inc|llc|ltd|corp|corporation|co|company|limited)$/, '').replaceAll(/ |^the /g, '');
  if (hosts.has(compact) || hosts.has(bare)) features.push('host');
  else if (hostStarts.has(bare) || startsOf(bare).some((start) => hosts.has(start))) features.push('host_start');
  return features;
}

/** Features of where a name stands. */
function contextOf({ start, end }: Range, line: Line, lines: Line[], isWhole: boolean): string[] {
  const features: string[] = [];
  const after = line.text.slice(end - line.start, end - line.start + 60);
  const next = lines[line.number + 1];
  const later = lines[line.number + 2];
  if (isWhole) features.push('whole_line');
  if (isWhole && next && (next.isAddress || (later?.isAddress && next.text.length < 60 && later.block === next.block)) && !line.isAddress) features.push('before_address');
  if (/^\s*[,|•·◊-]?\s*\d{1,6}\s+\p{Lu}/u.test(after)) features.push('before_address');
  if (isWhole && !line.isLinked && next && !next.isAddress && next.hasContact && next.block - line.block <= 1) features.push('before_contact');
  if (line.isProse) features.push('prose');
  if (line.level !== null) features.push('heading');
  if (line.isLinked) features.push(isWhole ? 'link_alone' : 'linked');
  if (line.isMain) features.push('main');
  if (line.tag === 'address') features.push('before_address');
  if (/\b(?:fn|org|organization|company|brand|logo|sitename|site-?title)\b/.test(line.classes)) features.push('class_org');
  if (/nav|menu|breadcrumb/.test(line.classes)) features.push('class_nav');
  if (/^\s+(?:is|was|has|offers|provides|will|serves|are|welcomes)\b/.test(after)) features.push('before_verb');
  const [, role] = /(\p{L}+),? (?:of|for|at|with|de|del) (?:the |la |el )?$/u.exec(line.text.slice(Math.max(0, start - line.start - 60), start - line.start)) ?? [];
  if (role && ROLE_WORDS.has(foldWord(role))) features.push('employer');
  if (line.isAddress) features.push('in_address');
  if (line.isRole && isWhole) features.push('role_line');
  return features;
}
