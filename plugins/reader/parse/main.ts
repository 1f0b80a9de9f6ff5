import type { Range } from '../types.ts';
import type { PageText } from './text.ts';
import type { Element } from './tree.ts';

const AROUND = /(^|[\s_-])(nav|navbar|navigation|menu|footer|header|sidebar|breadcrumbs?|cookie|banner|skip|share|social|search)([\s_-]|$)/i;
const AROUND_TAGS = new Set(['nav', 'header', 'footer', 'aside', 'form']);
/** A child with this part of the content of its parent has the main content. */
const MOST_OF_IT = 0.65;
/** An element that is marked as the main content counts when it has this part of all. */
const ENOUGH = 0.2;

/** Returns the range of the main content: of what is marked as such, or of the innermost element with most of the text that is not in links. */
export function mainRange(root: Element, page: PageText): Range | null {
  const scores = new Map<Element, number>();
  const linked = linkedCharacters(page);
  for (const [element, { start, end, firstLink, lastLink }] of page.extents) scores.set(element, end - start - (linked[lastLink]! - linked[firstLink]!));
  const total = scores.get(root) ?? 0;
  const marked = [...scores].filter(([element, score]) => isMarked(element) && score >= total * ENOUGH).sort((left, right) => right[1] - left[1])[0]?.[0];
  return trimmed(marked ?? innermost(root, scores), scores, page);
}

/** Returns for each number of links how many characters they have together. */
function linkedCharacters({ links }: PageText): number[] {
  const sums = [0];
  for (const { start, end } of links) sums.push(sums.at(-1)! + end - start);
  return sums;
}

function isMarked({ tag, attributes }: Element): boolean {
  return tag === 'main' || attributes.role === 'main';
}

function innermost(root: Element, scores: Map<Element, number>): Element {
  let at = root;
  for (;;) {
    const children = at.children.filter((child): child is Element => typeof child !== 'string' && scores.has(child) && !isAround(child, scores));
    const total = children.reduce((sum, child) => sum + scores.get(child)!, 0);
    const best = children.reduce<Element | null>((found, child) => (!found || scores.get(child)! > scores.get(found)! ? child : found), null);
    if (!best || scores.get(best)! < total * MOST_OF_IT || total < (scores.get(at) ?? 0) * MOST_OF_IT / 2 || best.tag === 'p' || best.tag === 'li') return at;
    at = best;
  }
}

/** Whether an element is navigation or the like by its name, unless it has most of its parent: some pages are one form, or name the body after its menu. */
function isAround(element: Element, scores: Map<Element, number>): boolean {
  const { tag, attributes, parent } = element;
  if (parent && (scores.get(element) ?? 0) > (scores.get(parent) ?? 0) / 2) return false;
  return AROUND_TAGS.has(tag) || AROUND.test(`${attributes.id ?? ''} ${attributes.class ?? ''} ${attributes.role ?? ''}`.slice(0, 400));
}

/** Leaves out navigation at the beginning and the end of the element. */
function trimmed(element: Element, scores: Map<Element, number>, { extents }: PageText): Range | null {
  const { start, end } = extents.get(element)!;
  const range = { start, end };
  const parts = element.children.filter((child): child is Element => typeof child !== 'string' && extents.has(child) && extents.get(child)!.end > extents.get(child)!.start);
  const inside = parts.filter((part) => !isAround(part, scores));
  if (inside.length > 0 && parts[0] !== inside[0] && extents.get(parts[0]!)!.start === start) range.start = extents.get(inside[0]!)!.start;
  if (inside.length > 0 && parts.at(-1) !== inside.at(-1) && extents.get(parts.at(-1)!)!.end === end) range.end = extents.get(inside.at(-1)!)!.end;
  return range.end > range.start ? range : null;
}
