import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compose } from '../compose.ts';
import { documented, generatedFiles } from '../config/generate.ts';
import { bundledPlugins } from '../load.ts';
import { createLogger } from '../log.ts';
import { prepare } from '../prepare.ts';
import { projectRoot } from '../root.ts';
import { Failure, type Command } from './command.ts';

/** What is worked out from the code and kept in the repository, with every plugin of the kit on. */
export async function contractFiles(): Promise<Map<string, string>> {
  const text = JSON.stringify({ plugins: Object.fromEntries(bundledPlugins().map((name) => [name, {}])) });
  const { config, plugins, errors } = await prepare({ env: {}, args: {}, text });
  if (errors.length > 0) throw new Failure(`Not every plugin of the kit can be switched on together: ${errors[0]!.message}`);
  const composition = await compose({ config, plugins, log: await createLogger({ ...config.log, level: 'silent' }) });
  return new Map([
    ['contracts/openapi.json', json(composition.openApi())],
    ['contracts/asyncapi.json', json(composition.asyncApi())],
    ...generatedFiles(documented(plugins), projectRoot),
  ]);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export const contractsWrite: Command = {
  name: 'contracts write',
  summary: 'Write contracts/ and the example config from the code',
  needs: 'nothing',
  async run({ terminal }) {
    const files = await contractFiles();
    for (const [name, text] of files) {
      const path = join(projectRoot, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    terminal.print([...files.keys()], () => [...files.keys()].map((name) => `Wrote ${name}`).join('\n'));
  },
};

export const contractsCheck: Command = {
  name: 'contracts check',
  summary: 'Check that the stored contracts match the code',
  needs: 'nothing',
  async run({ terminal }) {
    const differing = [...await contractFiles()].filter(([name, text]) => stored(name) !== text).map(([name]) => name);
    if (differing.length > 0) throw new Failure(`These differ from the code: ${differing.join(', ')}. Run bin/civic contracts write and review the change.`);
    terminal.print({ ok: true }, () => 'The stored contracts match the code.');
  },
};

function stored(name: string): string | null {
  const path = join(projectRoot, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}
