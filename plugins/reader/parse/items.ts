import type { ItemValue, StructuredItem } from '../types.ts';
import { LIMITS, type Cut } from './limits.ts';
import { readJsonLd } from './jsonld.ts';
import { readMicrodata } from './microdata.ts';
import { hasMicroformats, readMicroformats } from './microformats.ts';
import { readOpenGraph } from './opengraph.ts';
import { readRdfa } from './rdfa.ts';
import type { Element } from './tree.ts';

/** Reads the structured data of a page, in all syntaxes. */
export async function readItems({ root, html, base, elements, cut }: { root: Element; html: string; base: string; elements: Element[]; cut: Cut }): Promise<StructuredItem[]> {
  const items: StructuredItem[] = [
    ...await readJsonLd(elements, cut),
    ...readMicrodata(elements, base, cut),
    ...(hasMicroformats(elements) ? await readMicroformats(html, base, elements, cut) : []),
    ...readOpenGraph(elements, base),
    ...readRdfa(root, base, cut),
  ];
  return boundItems(items, cut);
}

/** Leaves out what is above the limits, in document order. */
function boundItems(items: StructuredItem[], cut: Cut): StructuredItem[] {
  const left = { values: LIMITS.item_values, text: LIMITS.item_text };
  const take = (value: ItemValue, depth: number): boolean => {
    left.values--;
    left.text -= typeof value === 'string' ? value.length : typeof value === 'object' ? (value.value?.length ?? 0) + (value.html?.length ?? 0) : 0;
    const fits = left.values >= 0 && left.text >= 0 && depth <= LIMITS.item_depth;
    if (!fits) cut.truncated = true;
    else if (typeof value === 'object') {
      for (const name of Object.keys(value.properties)) value.properties[name] = value.properties[name]!.filter((one) => take(one, depth + 1));
      if (value.children) value.children = value.children.filter((one) => take(one, depth + 1));
    }
    return fits;
  };
  if (items.length > LIMITS.items) cut.truncated = true;
  return items.slice(0, LIMITS.items).filter((item) => take(item, 0));
}
