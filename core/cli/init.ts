import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { documented, exampleYaml } from '../config/generate.ts';
import { prepare } from '../prepare.ts';
import { projectRoot } from '../root.ts';
import { Failure, type Command } from './command.ts';

export const init: Command = {
  name: 'init',
  summary: 'Write config/civic.yaml with every option explained and commented out',
  examples: ['bin/civic init', 'bin/civic init --config /etc/civic/civic.yaml'],
  needs: 'nothing',
  async run({ terminal, options }) {
    const file = resolve((options.config as string | undefined) ?? join(projectRoot, 'config/civic.yaml'));
    const { plugins } = await prepare({ env: {}, args: {}, file: join(projectRoot, 'config/civic.default.yaml') });
    writeNew(file, starterFile(exampleYaml(documented(plugins)), relative(dirname(file), join(projectRoot, 'config/civic.schema.json'))));
    const shown = relative(process.cwd(), file);
    terminal.print({ file }, () => [
      `Wrote ${shown.startsWith('..') ? file : shown}. It explains every option; remove the # before those you change, then:`,
      '',
      '  bin/civic config check    checks the file',
      '  bin/civic serve           starts the server',
    ].join('\n'));
  },
};

const HEADING = `# Every option with its default, commented out. To change one, remove the # before it and before the sections above it.
# Options that stay commented out follow the defaults of new versions. docs/configuration.md explains the file.
`;

/** Returns the example file with every option commented out, so that a file states only what its owner decided. Plugins stay on. */
function starterFile(example: string, schema: string): string {
  const lines = example.slice(example.indexOf('\n\n') + 2).split('\n');
  const plugins = lines.indexOf('plugins:');
  const isKept = (line: string, at: number): boolean => line === '' || /^ *#/.test(line) || (at >= plugins && /^( {2}\w+|plugins):/.test(line));
  const body = lines.map((line, at) => (isKept(line, at) ? line : line.replace(/^ */, '$&#')));
  return `# yaml-language-server: $schema=${schema}\n${HEADING}\n${body.join('\n')}`;
}

function writeNew(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new Failure(`${file} exists, and was not changed. Move it away to start over.`);
    throw new Failure(`${file} cannot be written: ${(error as Error).message}`);
  }
}
