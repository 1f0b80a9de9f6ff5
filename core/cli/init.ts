import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { exampleYaml } from '../config/generate.ts';
import { prepare } from '../prepare.ts';
import { projectRoot } from '../root.ts';
import { Failure, type Command } from './command.ts';

export const init: Command = {
  name: 'init',
  summary: 'Write config/civic.yaml, every option explained, to make your own',
  examples: ['bin/civic init', 'bin/civic init --config /etc/civic/civic.yaml'],
  needs: 'nothing',
  async run({ terminal, options }) {
    const file = resolve((options.config as string | undefined) ?? join(projectRoot, 'config/civic.yaml'));
    const { plugins } = await prepare({ env: {}, args: {} });
    writeNew(file, starterFile(exampleYaml(plugins)));
    const shown = relative(process.cwd(), file);
    terminal.print({ file }, () => [
      `Wrote ${shown.startsWith('..') ? file : shown}. It explains every option; take away the # of those you change, then:`,
      '',
      '  bin/civic config check    looks for mistakes',
      '  bin/civic serve           starts the server',
    ].join('\n'));
  },
};

const HEADING = `# Every option with its default: take away the # of those you change, and of the section they are in.
# Options you leave alone keep following the defaults of new versions. docs/configuration.md explains how they are read.
`;

/** The example with everything but the plugins commented out, so that a file says only what its owner decided. */
function starterFile(example: string): string {
  const [, options = '', plugins = ''] = /^(?:#.*\n)*\n([^]*?)(\n# Plugins are[^]*)$/.exec(example) ?? [];
  const commented = options.split('\n').map((line) => (line === '' || line.trimStart().startsWith('#') ? line : `#${line}`));
  return `${HEADING}\n${commented.join('\n').trimEnd()}\n${plugins.replace('plugins: {}', 'plugins:\n#  hello:')}`;
}

function writeNew(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new Failure(`${file} exists already, and nothing was changed. Move it away to start over.`);
    throw new Failure(`${file} cannot be written: ${(error as Error).message}`);
  }
}
