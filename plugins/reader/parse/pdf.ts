import type { Link, Range } from '../types.ts';
import { LIMITS, type Cut } from './limits.ts';
import { spanOf, type Lines } from './lines.ts';
import { absoluteUrl } from './tree.ts';

interface Glyphs {
  str: string;
  hasEOL: boolean;
  /** The last two numbers are the position. */
  transform: number[];
  height: number;
  width: number;
}

export interface PdfParts {
  title: string | null;
  pages: Range[];
  links: Link[];
}

/** A field of a form with its value, or a link. */
interface Annotation {
  fieldName?: string;
  fieldValue?: unknown;
  url?: string;
}

/** Reads the text of a PDF line by line, with the values of its form fields after those of a page; null when it is none, or encrypted. */
export async function readPdf(body: Uint8Array, lines: Lines, cut: Cut): Promise<PdfParts | null> {
  const { getDocumentProxy } = await import('unpdf');
  const pages: Range[] = [];
  const links: Link[] = [];
  try {
    // The library takes no subclass, and may hand the bytes over to another thread.
    const pdf = await getDocumentProxy(new Uint8Array(body), { verbosity: 0, isEvalSupported: false, useSystemFonts: false, stopAtErrors: false } as object);
    if (pdf.numPages > LIMITS.pdf_pages) cut.truncated = true;
    for (let number = 1; number <= Math.min(pdf.numPages, LIMITS.pdf_pages) && !(cut.truncated && lines.length >= LIMITS.text); number++) {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      const notes = await page.getAnnotations() as Annotation[];
      const texts = [...linesOf(items as unknown as Glyphs[]), ...notes.flatMap(({ fieldName, fieldValue }) => (typeof fieldValue === 'string' && fieldValue.trim() !== '' ? [`${fieldName}: ${fieldValue}`] : []))];
      const range = spanOf(texts.map((line) => lines.add('line', line)), lines.length);
      pages.push(range);
      for (const url of notes.flatMap(({ url: address }) => absoluteUrl(address, 'http:') ?? [])) {
        if (links.length < LIMITS.links) links.push({ url, text: '', rel: '', start: range.start, end: range.start });
      }
      page.cleanup();
    }
    const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
    const { Title: title } = info as { Title?: unknown };
    await pdf.destroy();
    return { title: typeof title === 'string' && title.trim() !== '' ? title.trim().slice(0, 500) : null, pages, links };
  } catch {
    return pages.length > 0 ? { title: null, pages, links } : null;
  }
}

function linesOf(items: Glyphs[]): string[] {
  const lines: string[] = [];
  let line = '';
  let last: Glyphs | null = null;
  const drawn = new Map<string, [x: number, y: number][]>();
  const end = () => {
    if (line.trim() !== '') lines.push(foldDoubled(line.trim()));
    line = '';
  };
  for (const item of items) {
    if (typeof item.str !== 'string') continue;
    if (!isOverprint(item, drawn)) {
      if (last && line !== '' && Math.abs(item.transform[5]! - last.transform[5]!) > Math.max(last.height, item.height, 1) * 0.6) end();
      line += item.str;
      if (item.str !== '') last = item;
    }
    if (item.hasEOL) end();
  }
  end();
  return lines;
}

/** Whether the same text was drawn at this place already: bold type is sometimes printed twice, a little apart. */
function isOverprint({ str, transform, height }: Glyphs, drawn: Map<string, [number, number][]>): boolean {
  if (str.trim() === '') return false;
  const [x, y] = [transform[4]!, transform[5]!];
  const near = Math.max(0.5, height * 0.15);
  const places = drawn.get(str);
  if (places?.slice(-50).some(([left, top]) => Math.abs(left - x) < near && Math.abs(top - y) < near)) return true;
  if (places) places.push([x, y]);
  else drawn.set(str, [[x, y]]);
  return false;
}

/** Folds `BBooaarrdd` to `Board`: some documents draw each glyph of a line twice. */
export function foldDoubled(line: string): string {
  const glyphs = [...line.replace(/\s+/g, '')];
  if (glyphs.length < 6 || glyphs.length % 2 !== 0 || glyphs.every((glyph) => glyph === glyphs[0])) return line;
  if (glyphs.some((glyph, index) => index % 2 === 1 && glyph !== glyphs[index - 1])) return line;
  let isSecond = false;
  return [...line].filter((glyph) => {
    if (/\s/.test(glyph)) return true;
    isSecond = !isSecond;
    return isSecond;
  }).join('').replace(/\s+/g, ' ');
}
