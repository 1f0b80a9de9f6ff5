import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../core/root.ts';

export const lab = Lab.script();
const { describe, it } = lab;

/** Code that loads modules only at a start, in the process of a command, or for the demo, where an error names the replaced build. */
const OTHERS = [
  'core/cli/listing.ts', 'core/cli/main.ts', 'core/cli/own.ts', 'core/cli/plugin.ts', 'core/cli/run.ts', 'core/cli/show-help.ts',
  'core/database/connect.ts', 'core/database/sqlite/choose.ts', 'core/testing/database.ts', 'plugins/directory/demo/commands.ts', 'plugins/directory/matching/command.ts',
  'plugins/directory/places/load.ts', 'plugins/firehose/demo/part.ts', 'plugins/scout/program.ts',
];

function sourcesIn(folder: string): string[] {
  return readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.split('/').includes('test'))
    .map((file) => `${folder}/${file}`);
}

describe('A running server', () => {
  it('loads no module of its own after the start except by lazily: a build in the meantime replaces the files', () => {
    const found = ['core', 'plugins'].flatMap(sourcesIn).filter((file) => {
      const text = readFileSync(join(projectRoot, file), 'utf8').replaceAll(/lazily\(\(\) => .*\);$/gm, '');
      return /(?<!typeof )\bimport\('\.[^']*'\)(?!\.|\[)/.test(text);
    });
    expect(found.sort()).to.equal(OTHERS);
  });
});
