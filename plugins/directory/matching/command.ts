import { Failure, type Command, type Terminal } from 'civic';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RecordScores, Score } from './eval.ts';

interface NameReport {
  set: string;
  split: string;
  names: Record<string, Score>;
}

interface Report {
  /** From this likeness on two names are taken for the same. */
  threshold: number;
  names: NameReport[];
  records?: { set: string; split: string } & Record<'all' | 'person' | 'organization', RecordScores>;
  skipped: string[];
}

const NOTE = 'For people this says "the same name": names alone never merge them.';

/** How well duplicates are found: on a file of name pairs, or on the sets this project measures itself by. */
export function evalMatching(): Command {
  return {
    name: 'eval matching',
    summary: 'Measure how well duplicate actors are found',
    arguments: '[path]',
    examples: ['bin/civic eval matching', 'bin/civic eval matching pairs.csv --json'],
    needs: 'nothing',
    async run({ terminal, positionals: [path], cwd }) {
      const report = path === undefined ? await ownReport(fileURLToPath(new URL('../shared/data', import.meta.resolve('civic/package.json')))) : await fileReport(resolve(cwd, path));
      terminal.print(report, () => words(report, terminal));
    },
  };
}

async function fileReport(path: string): Promise<Report> {
  const [{ scoreNames }, { SAME_NAME }, { namePairs }] = await Promise.all([import('./eval.ts'), import('./compare.ts'), import('./pairs.ts')]);
  const pairs = await namePairs(path);
  if (pairs.length === 0) throw new Failure(`${path} has no pairs of names`);
  return { threshold: SAME_NAME, names: [{ set: path, split: 'all of it', names: scoreNames(pairs) }], skipped: [] };
}

async function ownReport(dataFolder: string): Promise<Report> {
  const [{ scoreNames, scoreRecords, syntheticNameScores, SPLIT }, { SAME_NAME }, { openStatesPairs }] =
    await Promise.all([import('./eval.ts'), import('./compare.ts'), import('./labelled.ts')]);
  const split = `test (seed ${SPLIT.test}); weights and thresholds come from seed ${SPLIT.train}`;
  const folder = join(dataFolder, 'openstates', 'mo');
  const real = existsSync(folder) ? [{ set: 'Open States, Missouri: people, committees and their other names', split: 'all of it; the rules were written with it at hand', names: scoreNames(openStatesPairs(folder)) }] : [];
  return {
    threshold: SAME_NAME,
    names: [{ set: 'synthetic names', split, names: syntheticNameScores(SPLIT.test) }, ...real],
    records: { set: 'synthetic records with all fields', split, all: scoreRecords(SPLIT.test), person: scoreRecords(SPLIT.test, 'person'), organization: scoreRecords(SPLIT.test, 'organization') },
    skipped: real.length > 0 ? [] : [`${folder} is not there: the set of real names was left out`],
  };
}

function words({ threshold, names, records, skipped }: Report, { style }: Terminal): string {
  const lines = names.flatMap(({ set, split, names: scores }) => [
    style('bold', `Names only: ${set}`), `Split: ${split}. The same from a likeness of ${threshold} on.`,
    ...Object.entries(scores).map(([type, score]) => line(type, score)), ...('person' in scores ? [NOTE] : []), '',
  ]);
  if (records) {
    lines.push(style('bold', `Records: ${records.set}`), `Split: ${records.split}. Candidates come from the blocking keys; pairs these miss count as lost.`);
    for (const type of ['all', 'person', 'organization'] as const) lines.push(line(`${type}, proposed (match or review)`, records[type].proposed), line(`${type}, merged (match)`, records[type].merged));
    lines.push('');
  }
  return [...lines, ...skipped].join('\n').trimEnd();
}

function line(label: string, { pairs, matches, precision, recall, f1 }: Score): string {
  const number = (value: number) => value.toFixed(4);
  return `  ${label.padEnd(42)} precision ${number(precision)}  recall ${number(recall)}  F1 ${number(f1)}  (${pairs} pairs, ${matches} the same)`;
}
