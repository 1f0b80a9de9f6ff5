import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compose } from '../compose.ts';
import { exampleYaml, jsonSchema } from '../config/document.ts';
import { asyncApi } from '../contracts/asyncapi.ts';
import { openApi } from '../contracts/openapi.ts';
import { bundledPlugins } from '../load.ts';
import { createLogger } from '../log.ts';
import { prepare } from '../prepare.ts';
import { knownProblems } from '../problems.ts';
import { projectRoot, version } from '../root.ts';
import { Failure, type Command } from './command.ts';

/** What is worked out from the code and kept in the repository, with every plugin of the kit on. */
export async function contractFiles(): Promise<Record<string, string>> {
  const text = JSON.stringify({ plugins: Object.fromEntries(bundledPlugins().map((name) => [name, {}])) });
  const { config, plugins, schema, errors } = await prepare({ env: {}, args: {}, text });
  if (errors.length > 0) throw new Failure(`Not every plugin of the kit can be switched on together: ${errors[0]!.message}`);
  const { server } = await compose({ config, plugins, log: await createLogger({ ...config.log, level: 'silent' }) });
  const options = { info: { title: config.name, version }, publicUrl: config.public_url, problems: knownProblems() };
  return {
    'contracts/openapi.json': json(openApi(server, options)),
    'contracts/asyncapi.json': json(asyncApi(server, options)),
    'config/civic.schema.json': json(jsonSchema(schema)),
    'config/civic.example.yaml': exampleYaml(schema),
  };
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
    for (const [name, text] of Object.entries(files)) {
      const path = join(projectRoot, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    terminal.print(Object.keys(files), () => Object.keys(files).map((name) => `Wrote ${name}`).join('\n'));
  },
};

export const contractsCheck: Command = {
  name: 'contracts check',
  summary: 'Look whether the stored contracts still match the code',
  needs: 'nothing',
  async run({ terminal }) {
    const differing = Object.entries(await contractFiles()).filter(([name, text]) => stored(name) !== text).map(([name]) => name);
    if (differing.length > 0) throw new Failure(`These differ from the code: ${differing.join(', ')}. Run bin/civic contracts write and look at the change.`);
    terminal.print({ ok: true }, () => 'The stored contracts match the code.');
  },
};

function stored(name: string): string | null {
  const path = join(projectRoot, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}
