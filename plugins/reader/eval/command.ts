import { Failure, type Command, type Terminal } from 'civic';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReaderService } from '../types.ts';
import { BASE, missingItems } from './compare.ts';
import { casesIn } from './expected.ts';

interface Score {
  expected: number;
  found: number;
  /** Rounded down. */
  share: number;
  missing: { file: string; item: unknown }[];
}

export interface StructuredReport {
  /** By syntax, for pages with lists of items; each item counts. */
  syntaxes: Record<string, Score>;
  /** By kind, for cases of the microformats suite; each case counts, and must match exactly. */
  microformats: Record<string, Score>;
  below: string[];
}

/** The shares that this project demands of itself on its own test data. */
const BARS = { syntaxes: { 'json-ld': 0.95, 'microdata': 0.95 }, microformats: { 'h-card': 0.9, 'h-event': 0.9 } };
const SHOWN = 10;

export function evalStructured(document: ReaderService['document']): Command {
  return {
    name: 'eval structured',
    summary: 'Measure how much structured data of pages is read',
    arguments: '[path]',
    examples: ['bin/civic eval structured', 'bin/civic eval structured a-folder-of-pages --json'],
    needs: 'nothing',
    async run({ terminal, positionals: [path], cwd }) {
      const report = path === undefined ? await ownReport(document) : await reportOn([resolve(cwd, path)], document);
      if (path === undefined) report.below = belowBars(report);
      terminal.print(report, () => words(report, terminal));
      if (report.below.length > 0) throw new Failure(`Below what is demanded: ${report.below.join(', ')}`);
    },
  };
}

async function ownReport(document: ReaderService['document']): Promise<StructuredReport> {
  const data = fileURLToPath(new URL('../shared/data', import.meta.resolve('civic/package.json')));
  const folders = ['structured', 'microformats'].map((name) => join(data, name)).filter((folder) => existsSync(folder));
  if (folders.length === 0) throw new Failure('Name a folder: pages with a file of expected items beside each, `page.html` with `page.json` or `page.jsonld`');
  return await reportOn(folders, document);
}

async function reportOn(folders: string[], document: ReaderService['document']): Promise<StructuredReport> {
  const report: StructuredReport = { syntaxes: {}, microformats: {}, below: [] };
  for (const folder of folders) {
    if (!existsSync(folder)) throw new Failure(`Nothing is at ${folder}`);
    const cases = casesIn(folder);
    if (cases.length === 0) throw new Failure(`${folder} has no page with a file of expected items beside it`);
    for (const one of cases) {
      const { items } = await document({ url: BASE, content_type: 'text/html', body: readFileSync(one.file) });
      const missing = missingItems(one, items);
      const scores = one.isWhole ? report.microformats : report.syntaxes;
      const score = scores[one.set] ??= { expected: 0, found: 0, share: 0, missing: [] };
      score.expected += one.isWhole ? 1 : one.items.length;
      score.missing.push(...missing.map((item) => ({ file: one.file, item })));
      score.found = score.expected - score.missing.length;
      score.share = Math.floor((score.found / score.expected) * 10_000) / 10_000;
    }
  }
  return report;
}

function belowBars(report: StructuredReport): string[] {
  return (['syntaxes', 'microformats'] as const).flatMap((part) => Object.entries(BARS[part]).filter(([set, bar]) => (report[part][set]?.share ?? 0) < bar).map(([set]) => set));
}

function words({ syntaxes, microformats }: StructuredReport, { style }: Terminal): string {
  const line = ([set, { expected, found, share, missing }]: [string, Score]) => [
    `  ${set.padEnd(22)} ${found} of ${expected} (${(share * 100).toFixed(2)} %)`,
    ...missing.slice(0, SHOWN).map(({ file, item }) => `    not found: ${file}: ${JSON.stringify(item).slice(0, 160)}`),
    ...(missing.length > SHOWN ? [`    … and ${missing.length - SHOWN} more; --json has them all`] : []),
  ];
  return [
    ...(Object.keys(syntaxes).length > 0 ? [style('bold', 'Items of pages, by syntax'), ...Object.entries(syntaxes).flatMap(line)] : []),
    ...(Object.keys(microformats).length > 0 ? [style('bold', 'Cases of microformats, which match exactly, by kind'), ...Object.entries(microformats).flatMap(line)] : []),
  ].join('\n');
}
