import type { Cell, Table } from '../types.ts';
import { LIMITS, type Cut } from './limits.ts';
import type { Extent, PageText } from './text.ts';
import { eachElement, foldedText, type Element } from './tree.ts';

const MOST_COLUMNS = 60;
const MOST_SPAN = 500;

/** Returns the tables that have no table inside: others are for layout. */
export function readTables(root: Element, page: PageText, cut: Cut): Table[] {
  const tables: Table[] = [];
  const outer = new Set<Element>();
  const found: Element[] = [];
  eachElement(root, (element) => {
    if (element.tag !== 'table' || !page.extents.has(element)) return;
    found.push(element);
    for (let at = element.parent; at && !outer.has(at); at = at.parent) if (at.tag === 'table') outer.add(at);
  });
  const budget = { cells: LIMITS.cells };
  for (const element of found) {
    if (outer.has(element)) continue;
    if (tables.length >= LIMITS.tables || budget.cells <= 0) {
      cut.truncated = true;
      break;
    }
    const table = readTable(element, page, budget);
    if (table.rows.length > 0) tables.push(table);
  }
  return tables;
}

function readTable(element: Element, page: PageText, budget: { cells: number }): Table {
  let caption: string | null = null;
  const rows: { row: Element; cells: Element[] }[] = [];
  eachElement(element, (inner) => {
    if (inner.tag === 'caption') caption = foldedText(inner, 500) || null;
    if (inner.tag === 'tr') rows.push({ row: inner, cells: [] });
    else if ((inner.tag === 'td' || inner.tag === 'th') && page.extents.has(inner)) {
      rows.at(-1)?.cells.push(inner);
      return false;
    }
  });
  const filled = rows.filter(({ cells }) => cells.length > 0);
  const grid = fillGrid(filled.map(({ cells }) => cells), page, budget);
  const isHeader = ({ row, cells }: { row: Element; cells: Element[] }) => row.parent?.tag === 'thead' || (cells.length > 1 && cells.every(({ tag }) => tag === 'th'));
  let headers = 0;
  while (headers < filled.length && isHeader(filled[headers]!)) headers++;
  return { caption, header: headers > 0 ? (grid[headers - 1] ?? []).map(({ text }) => text) : [], rows: grid.slice(headers).map((cells) => ({ cells })) };
}

/** Repeats cells that span columns or rows. */
function fillGrid(rows: Element[][], page: PageText, budget: { cells: number }): Cell[][] {
  const grid: Cell[][] = [];
  const spanning = new Map<number, { cell: Cell; rows: number }>();
  for (const row of rows) {
    const cells: Cell[] = [];
    const continueSpans = () => {
      for (let span = spanning.get(cells.length); span && cells.length < MOST_COLUMNS; span = spanning.get(cells.length)) {
        if (--span.rows <= 0) spanning.delete(cells.length);
        cells.push(span.cell);
      }
    };
    for (const element of row) {
      continueSpans();
      const cell = readCell(page.extents.get(element)!, page);
      const span = { columns: spanOf(element, 'colspan'), rows: spanOf(element, 'rowspan') - 1 };
      for (let column = 0; column < span.columns && cells.length < MOST_COLUMNS; column++) {
        if (span.rows > 0) spanning.set(cells.length, { cell, rows: span.rows });
        cells.push(cell);
      }
    }
    continueSpans();
    budget.cells -= cells.length;
    if (budget.cells < 0) break;
    grid.push(cells);
  }
  return grid;
}

function readCell({ start, end, firstLink, lastLink }: Extent, { text, links }: PageText): Cell {
  return { text: text.slice(start, end), start, end, links: links.slice(firstLink, lastLink) };
}

function spanOf({ attributes }: Element, name: string): number {
  return Math.min(MOST_SPAN, Math.max(1, Number.parseInt(attributes[name] ?? '1', 10) || 1));
}
