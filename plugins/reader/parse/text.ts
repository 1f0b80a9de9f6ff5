import type { Block, Link, Range } from '../types.ts';
import { LIMITS, type Cut } from './limits.ts';
import { absoluteUrl, fold, type Element } from './tree.ts';

const BLOCK_TAGS = new Set(['address', 'article', 'aside', 'blockquote', 'body', 'button', 'caption', 'center', 'dd', 'details', 'dialog', 'div', 'dl', 'dt', 'fieldset', 'figcaption', 'figure', 'footer', 'form',
  'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'hr', 'html', 'legend', 'li', 'main', 'nav', 'ol', 'p', 'pre', 'section', 'summary', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr', 'ul', '#root']);
const UNSEEN = new Set(['audio', 'canvas', 'datalist', 'head', 'iframe', 'input', 'math', 'noscript', 'object', 'script', 'select', 'style', 'svg', 'template', 'textarea', 'title', 'video']);
const NEAR = 3;
const MOST_CLASSES = 12;

/** What an element has: its part of the text, its links and its blocks, as indices. */
export interface Extent extends Range {
  firstLink: number;
  lastLink: number;
  firstBlock: number;
  lastBlock: number;
}

export interface PageText {
  text: string;
  blocks: Block[];
  links: Link[];
  extents: Map<Element, Extent>;
}

interface Mark {
  start: number | null;
}

/** Reads the visible text of a page in document order. The depth of trees is bounded, so it may recurse. */
export function readText(root: Element, base: string, cut: Cut): PageText {
  const blocks: Block[] = [];
  const links: Link[] = [];
  const extents = new Map<Element, Extent>();
  const marks: Mark[] = [];
  const parts: string[] = [];
  let length = 0;
  /** What comes before the next character. */
  let gap: '' | ' ' | '\n' = '';
  let block: { element: Element; start: number; firstLink: number; firstPart: number; time: string | null } | null = null;

  function put(text: string): void {
    parts.push(text);
    length += text.length;
  }

  function endBlock(): void {
    if (block) {
      const { element, start, firstLink, firstPart, time } = block;
      const text = parts.slice(firstPart).join('');
      if (blocks.length < LIMITS.blocks) blocks.push({ tag: element.tag, text, start, end: length, depth: element.depth, group: null, item: null, classes: nearClasses(element), links: links.slice(firstLink), time });
      else cut.truncated = true;
    }
    block = null;
    gap = length > 0 ? '\n' : '';
  }

  function addText(text: string, element: Element, keepsLines: boolean): void {
    for (const [index, line] of (keepsLines ? text.split('\n') : [text]).entries()) {
      if (index > 0 && block) gap = '\n';
      addLine(line, element);
    }
  }

  function addLine(line: string, element: Element): void {
    const left = Math.max(0, LIMITS.text - length);
    if (line.length > left && line.trim() !== '') cut.truncated = true;
    const folded = line.slice(0, left).replace(/[\s\u200b]+/g, ' ');
    if (folded === '' || folded === ' ') {
      if (folded === ' ' && block && gap === '') gap = ' ';
      return;
    }
    const isSpaced = folded.startsWith(' ');
    if (block && isSpaced && gap === '') gap = ' ';
    if (gap !== '') put(gap);
    gap = '';
    for (const mark of marks) mark.start ??= length;
    block ??= { element, start: length, firstLink: links.length, firstPart: parts.length, time: null };
    put(folded.trim());
    if (folded.endsWith(' ')) gap = ' ';
  }

  function visit(element: Element, container: Element, keepsLines: boolean): void {
    const { tag, attributes } = element;
    if (isUnseen(element)) return;
    if (tag === 'br') {
      if (block) gap = '\n';
      return;
    }
    const isBlock = BLOCK_TAGS.has(tag);
    if (isBlock) endBlock();
    const mark: Mark = { start: null };
    marks.push(mark);
    const [firstLink, firstBlock] = [links.length, blocks.length];
    for (const child of element.children) {
      if (typeof child === 'string') addText(child, isBlock ? element : container, keepsLines || tag === 'pre');
      else visit(child, isBlock ? element : container, keepsLines || tag === 'pre');
    }
    marks.pop();
    if (tag === 'time' && block) block.time ??= attributes.datetime ?? null;
    if (tag === 'a') addLink(element, mark);
    if (isBlock) endBlock();
    extents.set(element, { start: mark.start ?? length, end: Math.max(mark.start ?? length, length), firstLink, lastLink: links.length, firstBlock, lastBlock: blocks.length });
  }

  function addLink(element: Element, mark: Mark): void {
    const url = element.attributes.href === undefined ? null : absoluteUrl(element.attributes.href, base);
    if (url === null) return;
    if (links.length >= LIMITS.links) {
      cut.truncated = true;
      return;
    }
    const { start } = mark;
    links.push({ url, text: start === null ? otherText(element) : '', rel: (element.attributes.rel ?? '').toLowerCase().slice(0, 200), start: start ?? length, end: length });
  }

  visit(root, root, false);
  endBlock();
  const text = parts.join('');
  for (const link of links) link.text ||= text.slice(link.start, link.end);
  setGroups(root, extents, blocks);
  return { text, blocks, links, extents };
}

function isUnseen({ tag, attributes }: Element): boolean {
  return UNSEEN.has(tag) || 'hidden' in attributes || (attributes.style !== undefined && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attributes.style));
}

/** Returns the text of a link without visible text. */
function otherText(element: Element): string {
  const image = element.children.find((child): child is Element => typeof child !== 'string' && child.tag === 'img');
  return fold(image?.attributes.alt ?? element.attributes['aria-label'] ?? element.attributes.title ?? '').slice(0, 300);
}

function nearClasses(element: Element): string[] {
  const classes: string[] = [];
  let at: Element | null = element;
  for (let near = 0; at && near <= NEAR; near++, at = at.parent) {
    if (at.attributes.id) classes.push(`#${at.attributes.id.slice(0, 60)}`);
    if (at.attributes.class) classes.push(...at.attributes.class.slice(0, 400).split(/\s+/).filter(Boolean).map((name) => name.slice(0, 60)));
  }
  return [...new Set(classes)].slice(0, MOST_CLASSES);
}

const ITEM_TAGS = new Set(['li', 'tr', 'article', 'dt']);

/** Sets the group and the item of each block: those of the nearest element that repeats and is more than one line of its parent. */
function setGroups(root: Element, extents: Map<Element, Extent>, blocks: Block[]): void {
  const chosen = new Map<Element, { group: number; item: number }>();
  let groups = 0;
  let items = 0;
  for (const parent of [root, ...extents.keys()]) {
    const alike = new Map<string, Element[]>();
    for (const child of parent.children) {
      if (typeof child === 'string') continue;
      const extent = extents.get(child);
      if (!extent || extent.lastBlock === extent.firstBlock) continue;
      const key = `${child.tag}.${child.attributes.class ?? ''}`;
      const list = alike.get(key);
      if (list) list.push(child);
      else alike.set(key, [child]);
    }
    for (const siblings of alike.values()) {
      if (siblings.length < 2 || !siblings.some((sibling) => isItem(sibling, siblings.length, extents.get(sibling)!))) continue;
      groups++;
      for (const sibling of siblings) chosen.set(sibling, { group: groups, item: ++items });
    }
  }
  // Inner elements have their extents first, so that the nearest one is chosen.
  for (const [element, { firstBlock, lastBlock }] of extents) {
    const found = chosen.get(element);
    if (found) for (const block of blocks.slice(firstBlock, lastBlock)) if (block.group === null) Object.assign(block, found);
  }
}

function isItem({ tag, attributes }: Element, siblings: number, { firstBlock, lastBlock }: Extent): boolean {
  return ITEM_TAGS.has(tag) || lastBlock - firstBlock > 1 || (siblings > 2 && Boolean(attributes.class) && tag !== 'p');
}
