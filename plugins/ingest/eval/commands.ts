import { Failure, type Command } from 'civic';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { replay } from './replay.ts';

const DEFAULT = '../shared/data/legistar/nyc-2024q1.replay.ndjson';

export const replayCommand: Command = {
  name: 'eval replay',
  summary: 'Replay recorded syncs of a Legistar calendar, or matters, and count the signals',
  arguments: '[file]',
  examples: ['bin/civic eval replay council.ndjson'],
  needs: 'nothing',
  async run({ terminal, positionals: [file], cwd }) {
    const path = resolve(cwd, file ?? DEFAULT);
    const text = await readFile(path, 'utf8').catch(() => { throw new Failure(`${path} cannot be read. Name a file with one JSON object a line: {at, events, removed}, or a matter of the Legistar Web API.`); });
    const result = await replay(text.split('\n').filter((line) => line.trim() !== '')).catch((error: Error) => { throw new Failure(`${path} is not a file of syncs or matters: ${error.message}`); });
    const counts = Object.entries(result.signals).toSorted(([a], [b]) => a.localeCompare(b)).map(([type, count]) => `  ${String(count).padStart(6)}  ${type}`);
    terminal.print(result, () => [
      `${result.reads} reads, ${result.rows} rows at the end: ${result.changes.added} added, ${result.changes.changed} changed, ${result.changes.gone} gone`,
      'Signals:', ...counts,
      `A second read of each state found ${result.second_pass === 0 ? 'no change' : `${result.second_pass} changes, which must not be`}`,
    ].join('\n'));
    if (result.second_pass > 0) throw new Failure('A second read of the same state must find no change');
  },
};
