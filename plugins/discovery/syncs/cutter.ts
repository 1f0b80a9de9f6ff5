import { problem } from 'civic';

/** A member of the outer object, or an item of a list in it, as text. */
export interface Piece {
  name: string;
  /** The position in the list; null for a member that is read as a whole. */
  index: number | null;
  text: string;
}

/** What the text must continue with. */
type State = 'object' | 'first_name' | 'name' | 'colon' | 'value' | 'first_item' | 'item' | 'after_item' | 'after_value' | 'end';

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const isSpace = (code: number) => code === 32 || code === 10 || code === 13 || code === 9;
const isOpening = (code: number) => code === OPEN_LIST || code === OPEN_OBJECT;
const isClosing = (code: number) => code === CLOSE_LIST || code === CLOSE_OBJECT;

/**
 * Cuts a JSON object into its members while its text arrives, and the members in `lists` into their items, so that only one of them is in memory as text.
 * Checks what is between them; each piece is still to be parsed. Rejects a name that is given twice or that is not in `known` at once, so that the number of members is bounded.
 */
export function createCutter({ known, lists, longest }: { known: ReadonlySet<string>; lists: ReadonlySet<string>; longest: number }) {
  let state: State = 'object';
  const names = new Set<string>();
  const cut: string[] = [];
  let name = '';
  let index = 0;
  // The piece that is being read.
  let isReading = false;
  let text = '';
  let depth = 0;
  let isInString = false;
  let isEscaped = false;

  function malformed(detail: string): Error {
    return problem('malformed_body', { detail: `The body is not a valid JSON object: ${detail}.` });
  }

  /** Begins a piece with its first character. */
  function begin(code: number): void {
    if (code === COMMA || code === COLON || isClosing(code)) throw malformed(`${JSON.stringify(String.fromCharCode(code))} stands where a value is expected`);
    isReading = true;
    text = '';
    depth = isOpening(code) ? 1 : 0;
    isInString = code === QUOTE;
  }

  /** Reads a character between pieces. Returns whether a piece begins with it. */
  function readStructure(code: number): boolean {
    const isBeginning = state === 'item' || (state === 'first_item' && code !== CLOSE_LIST) || (state === 'value' && !(code === OPEN_LIST && lists.has(name)))
      || ((state === 'first_name' || state === 'name') && code === QUOTE);
    if (isBeginning) {
      begin(code);
      if (state === 'first_item') state = 'item';
      if (state === 'first_name') state = 'name';
      return true;
    }
    const next = nextState(state, code);
    if (next === null) throw malformed(`${JSON.stringify(String.fromCharCode(code))} is not expected ${names.size === 0 ? 'at its beginning' : `after ${JSON.stringify(name.slice(0, 50))}`}`);
    if (next === 'first_item') {
      index = 0;
      cut.push(name);
    }
    state = next;
    return false;
  }

  function finish(): Piece | null {
    isReading = false;
    if (state === 'value' || state === 'item') {
      const isItem = state === 'item';
      state = isItem ? 'after_item' : 'after_value';
      return { name, index: isItem ? index++ : null, text };
    }
    name = parsedName(text);
    if (name === '__proto__') throw malformed('a member is called __proto__');
    if (!known.has(name)) throw unknownMember();
    if (names.has(name)) throw malformed(`the member ${JSON.stringify(name.slice(0, 50))} is given twice`);
    names.add(name);
    state = 'colon';
    return null;
  }

  function parsedName(quoted: string): string {
    try {
      return JSON.parse(quoted) as string;
    } catch {
      throw malformed(`${quoted.slice(0, 50)} is no name of a member`);
    }
  }

  /** Returns whether a piece ends: before this character, or with it. */
  function readCharacter(code: number): 'before' | 'with' | null {
    if (isInString) {
      if (isEscaped) isEscaped = false;
      else if (code === BACKSLASH) isEscaped = true;
      else if (code === QUOTE) {
        isInString = false;
        if (depth === 0) return 'with';
      }
      return null;
    }
    if (code === QUOTE) isInString = true;
    else if (isOpening(code)) depth++;
    else if (isClosing(code)) {
      if (depth === 0) return 'before';
      if (--depth === 0) return 'with';
    } else if (depth === 0 && (isSpace(code) || code === COMMA || code === COLON)) return 'before';
    return null;
  }

  return {
    /** Returns the pieces that end in a further part of the text. */
    take(part: string): Piece[] {
      const pieces: Piece[] = [];
      let start = 0;
      for (let at = 0; at < part.length; at++) {
        const code = part.charCodeAt(at);
        if (!isReading) {
          if (!isSpace(code) && readStructure(code)) start = at;
          continue;
        }
        const end = readCharacter(code);
        if (end === null) continue;
        text += part.slice(start, end === 'with' ? at + 1 : at);
        if (text.length > longest) throw tooLong();
        const piece = finish();
        if (piece) pieces.push(piece);
        // The character may begin or end what follows the piece.
        if (end === 'before') at--;
      }
      if (isReading) text += part.slice(start);
      if (text.length > longest) throw tooLong();
      return pieces;
    },
    /** Returns the names of the members that were cut into items. */
    lists: (): string[] => cut,
    end(): void {
      if (state !== 'end') throw malformed('it breaks off');
    },
  };

  function unknownMember(): Error {
    const pointer = `/${name.slice(0, 50).replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return problem('invalid_request', { detail: `${pointer} is not allowed`, errors: [{ pointer, detail: 'is not allowed' }] });
  }

  function tooLong(): Error {
    const where = state === 'item' ? `/${name}/${index}` : `/${name}`;
    return problem('invalid_request', { detail: `${where} is longer than ${longest} characters.`, errors: [{ pointer: where, detail: `is longer than ${longest} characters` }] });
  }
}

function nextState(state: State, code: number): State | null {
  if (state === 'object') return code === OPEN_OBJECT ? 'first_name' : null;
  if (state === 'first_name') return code === CLOSE_OBJECT ? 'end' : null;
  if (state === 'colon') return code === COLON ? 'value' : null;
  if (state === 'value') return code === OPEN_LIST ? 'first_item' : null;
  if (state === 'first_item') return code === CLOSE_LIST ? 'after_value' : null;
  if (state === 'after_item') return code === COMMA ? 'item' : code === CLOSE_LIST ? 'after_value' : null;
  if (state === 'after_value') return code === COMMA ? 'name' : code === CLOSE_OBJECT ? 'end' : null;
  return null;
}
