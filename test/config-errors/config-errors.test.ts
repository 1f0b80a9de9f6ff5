import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { checkConfig } from '../../core/config/check.ts';
import { readConfigFile } from '../../core/config/load.ts';
import { describeErrors } from '../../core/config/report.ts';
import type { ConfigFragment } from '../../core/config/types.ts';
import { definePlugin, type Plugin } from '../../core/plugin.ts';
import { prepare } from '../../core/prepare.ts';
import { projectRoot } from '../../core/root.ts';

export const lab = Lab.script();

/*
 * A case is <name>.txt, the exact text people see, and what makes it: <name>.yaml (the config file), <name>.env
 * (variables, one a line) and <name>.args (arguments, one a line), each only when it needs one.
 * CIVIC_UPDATE_GOLDEN=1 rewrites the texts; look at the difference before it is committed.
 */
const folder = join(projectRoot, 'test/config-errors');

/** Plugins that could be switched on in every case. */
const plugins = new Map<string, ConfigFragment | undefined>([
  ['directory', undefined],
  ['flags', {
    maximum: { doc: 'How many flags one person may raise a day.', format: Joi.number().integer().min(1).max(1000), default: 20 },
    reasons: { doc: 'The reasons offered.', format: Joi.array().items(Joi.string()), default: ['wrong', 'gone'] },
    review: { reviewers: { doc: 'Who looks at flags.', format: Joi.array().items(Joi.object({ name: Joi.string().required(), email: Joi.string().email() })), default: [] } },
  }],
  ['mail', {
    password: { doc: 'The password of the mail server.', format: Joi.string().min(8), default: null, sensitive: true },
    server: { doc: 'The mail server.', format: 'url', default: null },
    quotas: { doc: 'Mails a day, by list.', format: Joi.object().pattern(Joi.string(), Joi.number().integer().min(0)), default: {} },
  }],
  ['broken', { BadName: { doc: '', format: 'colour', default: 1 } }],
]);

/** Plugins of the cases called composition-…, which go the whole way to the ordered plugins. */
const composed: Plugin[] = [
  { name: 'digest', summary: 'Needs what is off', needs: ['sender'] },
  { name: 'hen', summary: 'Needs the egg', needs: ['egg'] },
  { name: 'egg', summary: 'Uses the hen', uses: ['hen'] },
].map((plugin) => definePlugin({ ...plugin, register: () => {} }));

function pairs(name: string): [string, string][] {
  if (!existsSync(join(folder, name))) return [];
  const lines = readFileSync(join(folder, name), 'utf8').split('\n').filter((line) => line !== '');
  return lines.map((line) => [line.slice(0, line.indexOf('=')).replace(/^--/, ''), line.slice(line.indexOf('=') + 1)]);
}

async function textOf(name: string): Promise<string> {
  const { config, ...args } = Object.fromEntries(pairs(`${name}.args`));
  const file = config ?? (existsSync(join(folder, `${name}.yaml`)) ? `${name}.yaml` : undefined);
  const env = Object.fromEntries(pairs(`${name}.env`));
  const isComposed = name.startsWith('composition-');
  const { errors } = isComposed
    ? await prepare({ file: join(folder, file!), env, args, given: composed })
    : checkConfig(readConfigFile({ file, env, args, root: folder, cwd: folder }), plugins);
  const text = describeErrors(errors, { color: false });
  // Composition knows the real folders, which are not the same everywhere.
  return `${text.replaceAll(`${folder}/`, '').replaceAll(`${relative(process.cwd(), folder)}/`, '')}\n`;
}

lab.experiment('config errors', () => {
  const files = readdirSync(folder);
  const names = files.filter((file) => file.endsWith('.txt')).map((file) => file.slice(0, -4));

  lab.test('there are at least thirty cases, and every file belongs to one', () => {
    expect(names.length).to.be.at.least(30);
    const strays = files.filter((file) => /\.(yaml|env|args)$/.test(file) && !names.includes(file.replace(/\.\w+$/, '')));
    expect(strays).to.equal([]);
  });

  for (const name of names) {
    lab.test(name.replaceAll('-', ' '), async () => {
      const text = await textOf(name);
      if (process.env.CIVIC_UPDATE_GOLDEN) writeFileSync(join(folder, `${name}.txt`), text);
      expect(text).to.equal(readFileSync(join(folder, `${name}.txt`), 'utf8'));
      expect(text, 'the secret of the cases').to.not.contain('hunter2');
      expect(text, 'something a terminal would act upon').to.not.match(/(?!\n)\p{Cc}/u);
    });
  }
});
