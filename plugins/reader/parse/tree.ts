import { QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { LIMITS, type Cut } from './limits.ts';

export interface Element {
  tag: string;
  attributes: Record<string, string>;
  children: (Element | string)[];
  parent: Element | null;
  depth: number;
}

const VOID = new Set(['area', 'base', 'basefont', 'br', 'col', 'embed', 'frame', 'hr', 'img', 'input', 'keygen', 'link', 'meta', 'param', 'source', 'track', 'wbr']);
const ENDS_P = ['address', 'article', 'aside', 'blockquote', 'details', 'div', 'dl', 'fieldset', 'figure', 'footer', 'form', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'hr', 'main', 'nav', 'ol', 'p', 'pre', 'section', 'table', 'ul'];
/** Which open elements a new one ends, when they are not outside of the others. */
const IMPLIED: Record<string, { ends: string[]; within: string[] }> = {
  li: { ends: ['li'], within: ['ul', 'ol', 'menu'] },
  dt: { ends: ['dt', 'dd'], within: ['dl'] },
  dd: { ends: ['dt', 'dd'], within: ['dl'] },
  option: { ends: ['option'], within: ['select', 'datalist'] },
  tr: { ends: ['tr'], within: ['table'] },
  td: { ends: ['td', 'th'], within: ['tr', 'table'] },
  th: { ends: ['td', 'th'], within: ['tr', 'table'] },
  tbody: { ends: ['thead', 'tbody', 'tfoot'], within: ['table'] },
  tfoot: { ends: ['thead', 'tbody', 'tfoot'], within: ['table'] },
  body: { ends: ['head'], within: [] },
  a: { ends: ['a'], within: ['td', 'th', 'table'] },
  ...Object.fromEntries(ENDS_P.map((tag) => [tag, { ends: ['p'], within: ['button', 'td', 'th', 'table'] }])),
};
/** An end tag inside one of these ends nothing outside of it, except the table and its parts themselves. */
const BARRIERS = new Set(['td', 'th', 'table']);
const TABLE_PARTS = new Set(['td', 'th', 'tr', 'thead', 'tbody', 'tfoot', 'table', 'body', 'html']);

export function newElement(tag: string, parent: Element | null): Element {
  return { tag, attributes: Object.create(null) as Record<string, string>, children: [], parent, depth: parent ? parent.depth + 1 : 0 };
}

/** Parses HTML into a tree of bounded depth and size, in linear time. By hand on a tokenizer: no library for trees has such bounds. */
export function parseTree(html: string, cut: Cut): Element {
  const root = newElement('#root', null);
  const open: Element[] = [root];
  let deeper = 0;
  let foreign = 0;
  let elements = 0;
  let current: Element | null = null;
  let attributes = 0;
  let name = '';
  let value = '';
  /** Text is collected in parts: ten million characters of one each would make a string of ten million strings. */
  let texts: string[] = [];
  let run = { start: 0, end: 0 };

  const top = () => open[open.length - 1]!;
  const endRun = () => {
    if (run.end > run.start) texts.push(html.slice(run.start, run.end));
    run = { start: 0, end: 0 };
  };
  const addText = (text: string) => {
    endRun();
    texts.push(text);
    if (texts.length > 10_000) texts = [texts.join('')];
  };
  const flush = () => {
    endRun();
    if (texts.length > 0) top().children.push(texts.join(''));
    texts = [];
  };
  /** How many elements of each name are open: most rules need no search then. */
  const openTags = new Map<string, number>();
  const popTo = (length: number) => {
    while (open.length > length) {
      const element = open.pop()!;
      openTags.set(element.tag, openTags.get(element.tag)! - 1);
      if (isForeign(element)) foreign--;
    }
  };

  function endImplied(tag: string): void {
    const rule = Object.hasOwn(IMPLIED, tag) ? IMPLIED[tag]! : null;
    if (!rule?.ends.some((one) => openTags.get(one))) return;
    for (let index = open.length - 1; index > 0; index--) {
      const { tag: at } = open[index]!;
      if (rule.within.includes(at)) return;
      if (rule.ends.includes(at)) return popTo(index);
    }
  }

  function endTag(tag: string): void {
    if (deeper > 0) {
      deeper--;
      return;
    }
    if (!openTags.get(tag)) return;
    for (let index = open.length - 1; index > 0; index--) {
      const { tag: at } = open[index]!;
      if (at === tag) return popTo(index);
      if (BARRIERS.has(at) && !TABLE_PARTS.has(tag)) return;
    }
  }

  function finishTag(isClosed: boolean): void {
    const element = current!;
    current = null;
    if (isClosed || VOID.has(element.tag)) return;
    if (open.length >= LIMITS.depth) {
      cut.truncated = true;
      deeper++;
      return;
    }
    open.push(element);
    openTags.set(element.tag, (openTags.get(element.tag) ?? 0) + 1);
    if (isForeign(element)) foreign++;
  }

  const events: TokenizerCallbacks = {
    ontext(start, end) {
      if (start === run.end && run.end > run.start) run.end = end;
      else {
        endRun();
        run = { start, end };
      }
    },
    ontextentity: (code) => addText(String.fromCodePoint(code)),
    onopentagname(start, end) {
      flush();
      if (++elements > LIMITS.elements) {
        cut.truncated = true;
        tokenizer.pause();
      }
      const tag = html.slice(start, end).toLowerCase();
      endImplied(tag);
      current = newElement(tag, top());
      attributes = 0;
      top().children.push(current);
    },
    onattribname: (start, end) => { name = html.slice(start, Math.min(end, start + 100)).toLowerCase(); },
    onattribdata: (start, end) => { if (value.length < LIMITS.attribute_length) value += html.slice(start, Math.min(end, start + LIMITS.attribute_length)); },
    onattribentity: (code) => { value += String.fromCodePoint(code); },
    onattribend(quote) {
      if (++attributes > LIMITS.attributes) cut.truncated = true;
      else if (current && !(name in current.attributes)) current.attributes[name] = quote === QuoteType.NoValue ? '' : value;
      value = '';
    },
    onopentagend: () => finishTag(false),
    onselfclosingtag: () => finishTag(foreign > 0),
    onclosetag(start, end) {
      flush();
      endTag(html.slice(start, end).trim().toLowerCase());
    },
    oncdata: (start, end, offset) => addText(html.slice(start, end - offset)),
    oncomment() {},
    ondeclaration() {},
    onprocessinginstruction() {},
    onend: flush,
    isInForeignContext: () => foreign > 0,
  };
  const tokenizer = new Tokenizer({ decodeEntities: true }, events);
  tokenizer.write(html);
  if (tokenizer.running) tokenizer.end();
  flush();
  return root;
}

function isForeign({ tag }: Element): boolean {
  return tag === 'svg' || tag === 'math';
}

/** Calls `visit` for every element in document order, in a loop: `visit` returns false to leave out what is inside. */
export function eachElement(root: Element, visit: (element: Element) => boolean | void): void {
  const waiting: Element[] = [root];
  while (waiting.length > 0) {
    const element = waiting.pop()!;
    if (visit(element) === false) continue;
    for (let index = element.children.length - 1; index >= 0; index--) {
      const child = element.children[index]!;
      if (typeof child !== 'string') waiting.push(child);
    }
  }
}

/** Returns the text of an element with white space folded. */
export function foldedText(element: Element, most = 20_000): string {
  const parts: string[] = [];
  let length = 0;
  // Items inside each other would read the same nodes again and again.
  let nodes = 0;
  const add = (node: Element): void => {
    for (const child of node.children) {
      if (length > most || ++nodes > most) return;
      if (typeof child === 'string') {
        parts.push(child);
        length += child.length;
      } else if (child.tag === 'br') parts.push(' ');
      else if (child.tag !== 'script' && child.tag !== 'style') add(child);
    }
  };
  add(element);
  return fold(parts.join('')).slice(0, most);
}

export function fold(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Returns an absolute address of the web, mail or telephone; null for others, such as scripts. */
export function absoluteUrl(value: string | undefined, base: string): string | null {
  if (value === undefined) return null;
  try {
    const url = new URL(value.trim(), base);
    return /^(https?|webcal|mailto|tel):$/.test(url.protocol) ? url.href.slice(0, 4000) : null;
  } catch {
    return null;
  }
}
