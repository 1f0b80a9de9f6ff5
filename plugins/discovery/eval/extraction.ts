import { Failure, type Command, type Terminal } from 'civic';
import type { Document, ReaderService } from 'civic/reader';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEFAULT_SCORE, extractActors } from '../extract/extract.ts';
import type { FoundActor } from '../extract/types.ts';
import { fitWeights } from './fit.ts';
import { markedPages, splitOf, type MarkedPage, type MarkedType } from './pages.ts';
import { namesOn, scoreNames, type PageScore, type Score } from './score.ts';

const TYPES: MarkedType[] = ['person', 'organization'];
/** What this project demands of itself on its own test data, above the default score. */
export const BARS: Record<MarkedType, Pick<Score, 'precision' | 'f1'>> = { person: { precision: 0.7, f1: 0.6 }, organization: { precision: 0.7, f1: 0.55 } };
const RULE = 'A name is right when the same name is marked on the page, apart from case, accents, spaces and punctuation. A name counts once a page.';
const SHOWN = 10;

type Scores = Record<MarkedType, { all: Score; above: Score }>;

export interface ExtractionReport {
  rule: string;
  default_score: number;
  /** Which pages the figures are of, with the number of pages, and the scores by type: of all names, and of those above the default score. */
  splits: Record<string, { pages: number; types: Scores }>;
  pages: PageScore[];
  below: string[];
}

export function evalExtraction(document: ReaderService['document']): Command {
  return {
    name: 'eval extraction',
    summary: 'Measure how many names of marked pages are found',
    arguments: '[folder]',
    options: [{ name: 'fit', summary: 'Fit the weights of features on the pages for tuning, and print them as JSON instead' }],
    examples: ['bin/civic eval extraction', 'bin/civic eval extraction a-folder-of-pages --json'],
    needs: 'nothing',
    async run({ terminal, positionals: [folder], options, cwd }) {
      const path = folder === undefined ? fileURLToPath(new URL('../shared/data/contact-pages', import.meta.resolve('civic/package.json'))) : resolve(cwd, folder);
      if (folder === undefined && !existsSync(path)) throw new Failure('Name a folder of pages whose names are marked: <span wa-type="PER"> and <span wa-type="ORG">');
      const read = await readPages(markedPages(path), document, terminal);
      if (options['fit']) {
        const weights = fitWeights(folder === undefined ? read.filter(({ page }) => splitOf(page.file) === 'train') : read);
        terminal.print(weights, () => JSON.stringify(weights, null, 2));
        return;
      }
      const report = reportOn(read.map(({ page, document: parsed }) => ({ page, actors: extractActors(parsed) })), folder === undefined);
      terminal.print(report, () => words(report, terminal));
      if (report.below.length > 0) throw new Failure(`Below what is demanded: ${report.below.join(', ')}`);
    },
  };
}

interface Read {
  page: MarkedPage;
  document: Document;
}

async function readPages(pages: MarkedPage[], document: ReaderService['document'], terminal: Terminal): Promise<Read[]> {
  const read: Read[] = [];
  for (const [at, page] of pages.entries()) {
    terminal.progress('Reading pages', at, pages.length);
    const url = `https://example.org/${page.file.split(/[\\/]/).map(encodeURIComponent).join('/')}`;
    read.push({ page, document: await document({ url, content_type: 'text/html; charset=utf-8', body: Buffer.from(page.html) }) });
  }
  return read;
}

interface Extracted {
  page: MarkedPage;
  actors: FoundActor[];
}

function reportOn(read: Extracted[], isOwn: boolean): ExtractionReport {
  const scores = (some: Extracted[]) => ({ pages: some.length, types: Object.fromEntries(TYPES.map((type) => [type, { all: score(some, type, 0), above: score(some, type, DEFAULT_SCORE) }])) as Scores });
  const split = (name: 'train' | 'test') => scores(read.filter(({ page }) => splitOf(page.file) === name));
  // Only the project's own pages were divided into those for tuning and those for measuring.
  const splits = { ...(isOwn ? { train: split('train'), test: split('test') } : {}), all: scores(read) };
  return { rule: RULE, default_score: DEFAULT_SCORE, splits, pages: read.map(pageScore), below: isOwn ? belowBars(splits) : [] };
}

function score(read: Extracted[], type: MarkedType, least: number): Score {
  return scoreNames(read.map(({ page, actors }) => namesOn(page, actors, type, least)));
}

function pageScore({ page, actors }: Extracted): PageScore {
  const byType = (choose: (names: ReturnType<typeof namesOn>) => string[]) => Object.fromEntries(TYPES.map((type) => [type, choose(namesOn(page, actors, type, DEFAULT_SCORE))])) as PageScore['missing'];
  return {
    file: page.file,
    missing: byType(({ marked, found }) => [...marked].filter((name) => !found.has(name))),
    extra: byType(({ marked, found }) => [...found].filter((name) => !marked.has(name))),
  };
}

function belowBars(splits: ExtractionReport['splits']): string[] {
  return Object.entries(splits).flatMap(([split, { types }]) => TYPES.flatMap((type) => (['precision', 'f1'] as const)
    .filter((measure) => types[type].above[measure] < BARS[type][measure])
    .map((measure) => `${measure} of ${type} names, ${split}: ${percent(types[type].above[measure])} instead of ${percent(BARS[type][measure])}`)));
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function words({ splits, pages, rule, default_score: least }: ExtractionReport, { style }: Terminal): string {
  const line = (name: string, { precision, recall, f1, right, found, marked }: Score) =>
    `  ${name.padEnd(28)} precision ${percent(precision).padStart(7)}  recall ${percent(recall).padStart(7)}  F1 ${percent(f1).padStart(7)}   ${right} right of ${found} found and ${marked} marked`;
  const wrong = pages.filter(({ missing, extra }) => TYPES.some((type) => missing[type].length + extra[type].length > 0));
  const names = (of: PageScore['missing']) => TYPES.flatMap((type) => of[type]).join('; ').slice(0, 160);
  return [
    ...Object.entries(splits).flatMap(([split, { pages: count, types }]) => [
      style('bold', `${split} (${count} pages)`), ...TYPES.flatMap((type) => [line(`${type}, all scores`, types[type].all), line(`${type}, from ${least}`, types[type].above)]),
    ]),
    style('bold', 'Pages with other names than marked'),
    ...wrong.slice(0, SHOWN).map(({ file, missing, extra }) => `  ${file}: not found: ${names(missing) || 'none'}; not marked: ${names(extra) || 'none'}`),
    ...(wrong.length > SHOWN ? [`  … and ${wrong.length - SHOWN} more; --json has them all`] : []),
    rule,
  ].join('\n');
}
