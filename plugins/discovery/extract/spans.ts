import type { Range } from 'civic/reader';
import type { Line } from './lines.ts';
import { foldWord } from './text.ts';
import { LEGAL_FORMS } from './words/organizations.ts';

/** A word of a line, or a mark of punctuation. */
export interface Token {
  text: string;
  /** Without case, accents and points. */
  folded: string;
  start: number;
  end: number;
  kind: 'capital' | 'small' | 'mark';
}

const TOKEN = /[\p{L}\p{N}](?:[\p{L}\p{N}'’]|[.-](?=[\p{L}\p{N}]))*\.?[™®]?|&|\S/gu;
const CONNECTORS = new Set(['of', 'the', 'and', '&', 'for', 'at', 'in', 'on', 'to', 'de', 'del', 'la', 'las', 'los', 'el', 'y', 'e', 'van', 'von', 'der', 'den', 'da', 'do', 'dos', 'para', 'por', 'with']);
/** Words that keep their point inside of a name. */
const SHORT = new Set(['st', 'mt', 'ft', 'dr', 'mr', 'mrs', 'ms', 'jr', 'sr', 'rev', 'hon', 'prof', 'gov', 'sen', 'rep', 'lt', 'sgt', 'capt', 'no', 'bros', 'dept', 'univ', 'intl', 'natl', 'assn', 'assoc', 'ald', 'lic', 'ing', 'sra']);
const MOST_TOKENS = 16;

export function tokensOf({ text, start }: Pick<Line, 'text' | 'start'>): Token[] {
  const tokens: Token[] = [];
  for (const { 0: found, index } of text.matchAll(TOKEN)) {
    const word = found.replace(/[™®]$/, '');
    tokens.push({ text: word, folded: foldWord(word), start: start + index, end: start + index + word.length, kind: kindOf(word) });
  }
  return tokens;
}

function kindOf(word: string): Token['kind'] {
  if (!/^[\p{L}\p{N}]/u.test(word)) return 'mark';
  // Years, telephone numbers and the like begin no name.
  if (/^\d{4}|^[\d.-]+$/.test(word) && !/^\d{1,3}\.?$/.test(word)) return 'mark';
  return /^(?:\p{Lu}|\p{N}|[a-z]\p{Lu}|\p{Lo})/u.test(word) ? 'capital' : 'small';
}

/** Splits the words of a line into spans that can be names: capitalized words, with connecting words between them. */
export function spansOf(tokens: Token[]): Token[][] {
  const spans: Token[][] = [];
  for (let at = 0; at < tokens.length;) {
    if (tokens[at]!.kind !== 'capital') {
      at++;
      continue;
    }
    const end = endOfSpan(tokens, at);
    spans.push(tokens.slice(at, end));
    at = end;
  }
  return spans;
}

function endOfSpan(tokens: Token[], start: number): number {
  let end = start + 1;
  while (end - start < MOST_TOKENS && !endsSentence(tokens[end - 1]!)) {
    const next = nextCapital(tokens, end);
    if (next === null) break;
    end = next + 1;
  }
  return end;
}

/** Returns the position of the capitalized word that continues a span after `at`; null when the span ends. */
function nextCapital(tokens: Token[], at: number): number | null {
  let next = at;
  while (next < at + 3 && tokens[next] && CONNECTORS.has(tokens[next]!.text)) next++;
  const token = tokens[next];
  if (token && isNotice(token, tokens[next + 1])) return null;
  if (token?.kind === 'capital') return next;
  if (next > at || !token) return null;
  if (token.text === ',') return isLegalForm(tokens[at + 1]) ? at + 1 : null;
  return token.text === '(' ? afterParentheses(tokens, at) : null;
}

/** Some names have a country in them: `Example (Japan) Ltd.` */
function afterParentheses(tokens: Token[], at: number): number | null {
  for (let close = at + 2; close < at + 5; close++) if (tokens[close]?.text === ')') return isLegalForm(tokens[close + 1]) ? close + 1 : null;
  return null;
}

/** `All Rights Reserved` follows the name of a holder. */
function isNotice({ folded }: Token, next: Token | undefined): boolean {
  return (folded === 'all' && next?.folded === 'rights') || (folded === 'powered' && next?.folded === 'by');
}

export function isLegalForm(token: Token | undefined): boolean {
  return token !== undefined && token.kind === 'capital' && LEGAL_FORMS.has(token.folded);
}

function endsSentence({ text, folded }: Token): boolean {
  return text.endsWith('.') && (folded.length > 1 || /^\d/.test(text)) && !SHORT.has(folded) && !LEGAL_FORMS.has(folded) && !/\..*\./.test(text);
}

/** Returns the range of a span, without the point of a sentence. */
export function rangeOf(span: Token[]): Range {
  const last = span.at(-1)!;
  return { start: span[0]!.start, end: endsSentence(last) ? last.end - 1 : last.end };
}
