import type { Dialect } from 'civic';
import { isFiller, nameToken, START_WORDS, startToken, tagToken, wordsOf, workspaceMark } from './document.ts';

/** What the index is asked for, the same for both databases. */
export type Match =
  | { token: string; isPrefix: boolean }
  | { all: Match[]; not?: Match }
  | { any: Match[] };

/** Tokens hold letters, digits and signs beyond ASCII only, so they need no escaping. */
export function matchText(match: Match, dialect: Dialect): string {
  const text = (part: Match) => matchText(part, dialect);
  const isSqlite = dialect === 'sqlite';
  if ('token' in match) return isSqlite ? `"${match.token}"${match.isPrefix ? '*' : ''}` : `'${match.token}'${match.isPrefix ? ':*' : ''}`;
  if ('any' in match) return `(${match.any.map(text).join(isSqlite ? ' OR ' : ' | ')})`;
  const all = match.all.map(text).join(isSqlite ? ' AND ' : ' & ');
  if (!match.not) return `(${all})`;
  return isSqlite ? `((${all}) NOT ${text(match.not)})` : `(${all} & !${text(match.not)})`;
}

/** Whether a document is found, judged by its tokens between spaces. */
export function isFoundIn(tokens: string, match: Match): boolean {
  if ('token' in match) return tokens.includes(match.isPrefix ? ` ${match.token}` : ` ${match.token} `);
  if ('any' in match) return match.any.some((part) => isFoundIn(tokens, part));
  return match.all.every((part) => isFoundIn(tokens, part)) && !(match.not && isFoundIn(tokens, match.not));
}

/** The words of a query; the last one may be the beginning of a word. */
export interface Words {
  words: string[];
  isPrefix: boolean;
  /** All public words with that beginning, where they are few: quicker to look for than the beginning itself. */
  endings?: string[];
}

/** Null when there is nothing to look for. */
export function readQuery(query: string | null): Words | null {
  const words = wordsOf(query ?? '');
  if (words.length === 0) return null;
  const last = words.at(-1)!;
  // After other words a filler is a word by itself: too much begins with it.
  return { words, isPrefix: Array.from(last).length >= 2 && !(words.length > 1 && isFiller(last)) };
}

/** And of ors, over tags. */
export interface Filter {
  any: string[];
}

export interface Asked {
  words: Words | null;
  filters: Filter[];
  /** Whose own documents are looked at besides the public ones. */
  workspace: string | null;
}

/** Everything that is found, or null when neither words nor filters narrow it. */
export function wholeMatch(asked: Asked): Match | null {
  const { words, filters } = asked;
  if (!words && filters.length === 0) return null;
  return inReach(asked, (mark) => [...(words ? wordMatches(words, mark) : []), ...filterMatches(filters, mark)]);
}

/** What is quick to look for and holds everything that is found; null when that would be too much. */
export function coreMatch(asked: Asked & { words: Words }): Match | null {
  const { words, filters } = asked;
  const hasWord = words.endings !== undefined || words.words.slice(0, -1).some((word) => !isFiller(word));
  if (!hasWord || words.words.length + filters.length < 2) return null;
  // A workspace's own are few enough to look for beginnings too.
  const isQuick = (match: Match, mark: string) => mark !== '' || !('token' in match) || !match.isPrefix;
  return inReach(asked, (mark) => [...wordMatches(words, mark).filter((match) => isQuick(match, mark)), ...filterMatches(filters, mark)]);
}

/** The same in three tiers that have nothing in common: the name starts with it, the name has all words, they are anywhere. */
export function tierMatches(asked: Asked & { words: Words }): [Match, Match, Match] {
  const filters = (mark: string) => filterMatches(asked.filters, mark);
  const starts = inReach(asked, (mark) => [...startMatches(asked.words, mark), ...filters(mark)]);
  const named = namedMatch(asked);
  return [starts, { all: [named], not: starts }, { all: [wholeMatch(asked)!], not: named }];
}

/** Names that have all words. */
export function namedMatch(asked: Asked & { words: Words }): Match {
  return inReach(asked, (mark) => [...nameMatches(asked.words, mark), ...filterMatches(asked.filters, mark)]);
}

/** Words by themselves, without the fillers among them. */
export function wordMatch(words: Words, workspace: string | null): Match {
  return inReach({ workspace }, (mark) => wordMatches(words, mark));
}

/** All documents of a workspace's own. */
export function ownMatch(workspace: string): Match {
  return { token: workspaceMark(workspace), isPrefix: false };
}

/** A document is either public or its workspace's own: the one's tokens are never the other's. */
function inReach({ workspace }: Pick<Asked, 'workspace'>, parts: (mark: string) => Match[]): Match {
  const open: Match = { all: parts('') };
  return workspace === null ? open : { any: [open, { all: parts(workspaceMark(workspace)) }] };
}

/** The last word, in the form of some token that ends with it. */
function last({ words, isPrefix, endings }: Words, mark: string, token: (word: string) => string): Match {
  if (!endings || mark !== '') return { token: mark + token(words.at(-1)!), isPrefix };
  return { any: endings.map((ending) => ({ token: token(ending), isPrefix: false })) };
}

function each(asked: Words, mark: string, token: (word: string) => string): Match[] {
  return [...asked.words.slice(0, -1).map((word) => ({ token: mark + token(word), isPrefix: false })), last(asked, mark, token)];
}

function wordMatches(asked: Words, mark: string): Match[] {
  const all = each(asked, mark, (word) => word);
  const telling = all.filter((_, index) => !isFiller(asked.words[index]!));
  return telling.length > 0 ? telling : all;
}

function nameMatches(asked: Words, mark: string): Match[] {
  return each(asked, mark, nameToken);
}

/** Of a long query only the first words are known in their order; the name must have the others. */
function startMatches(asked: Words, mark: string): Match[] {
  const { words } = asked;
  if (words.length > START_WORDS) return [{ token: mark + startToken(words.slice(0, START_WORDS)), isPrefix: false }, ...nameMatches(asked, mark)];
  return [last(asked, mark, (word) => startToken([...words.slice(0, -1), word]))];
}

function filterMatches(filters: Filter[], mark: string): Match[] {
  return filters.map(({ any }) => ({ any: any.map((tag) => ({ token: mark + tagToken(tag), isPrefix: false })) }));
}
