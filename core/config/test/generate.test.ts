import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../root.ts';
import { checkConfig } from '../check.ts';
import { optionsOf } from '../format.ts';
import { fragmentProblems } from '../fragment.ts';
import { type Documented, exampleYaml, fillTables, helpFor, jsonSchema, optionTable } from '../generate.ts';
import { readConfigFile, readConfigText } from '../load.ts';
import { coreOptions, pluginOptions } from '../options.ts';
import type { ConfigFragment } from '../types.ts';

export const lab = Lab.script();
const { experiment, test } = lab;

const config: ConfigFragment = {
  password: { doc: 'The password.', format: String, default: null, sensitive: true },
  retry: { times: { doc: 'How often | when.', format: 'nat', default: 3, env: 'MAIL_RETRIES' } },
};
const mail: Documented = { name: 'mail', summary: 'Sends letters.', config };
const options = { env: { CIVIC_PLUGINS_MAIL_PASSWORD: 'x' }, args: {}, root: projectRoot };
const fragments = new Map([['mail', config]]);

experiment('what is worked out from the options', () => {
  test('the tables of the page are what the code says', () => {
    const file = join(projectRoot, 'docs/configuration.md');
    const text = fillTables(readFileSync(file, 'utf8'));
    if (process.env.CIVIC_UPDATE_GOLDEN) writeFileSync(file, text);
    expect(readFileSync(file, 'utf8') === text, 'docs/configuration.md is up to date').to.be.true();
    for (const [path] of optionsOf({ ...coreOptions, plugins: { '<name>': pluginOptions } })) expect(text).to.contain(`| \`${path}\` |`);
  });

  test('the example has every option and no mistake, and changes nothing', () => {
    const example = exampleYaml([mail]).replace('password: # required\n', '\n');
    const { config: merged, errors, origins } = checkConfig(readConfigText(example, 'example.yaml', options), fragments);
    expect(errors).to.equal([]);
    expect([...origins].filter(([, { kind }]) => kind === 'default').map(([path]) => path)).to.equal(['plugins.mail.from']);
    expect(merged).to.equal(checkConfig(readConfigText('plugins: { mail: }', 'x', options), fragments).config);
  });

  test('the file that runs when there is none of one\'s own has no mistake', () => {
    const document = readConfigFile({ ...options, env: {}, file: join(projectRoot, 'config/civic.default.yaml') });
    // Core knows no plugin: that those it names exist, and take these options, is for whoever composes them.
    const named = new Map(document.plugins.map(({ name }) => [name, {}]));
    expect(checkConfig(document, named).errors).to.equal([]);
  });

  test('the JSON Schema describes options of core and of plugins, and shows no secret', () => {
    const { properties } = jsonSchema([mail]) as any;
    expect(properties.http.properties.port).to.equal({ description: 'The port to listen on; 0 takes any free one.', default: 8080, anyOf: [{ type: 'integer', minimum: 0, maximum: 65535 }, { $ref: '#/$defs/variable' }] });
    expect(properties.plugins.properties.mail.properties).to.include(['enabled', 'from', 'password', 'retry']);
    expect(properties.http.additionalProperties).to.be.false();
  });

  test('help explains an option, a section, or all of them, and knows the nearest name', () => {
    expect(helpFor('plugins.mail.retry.times', [mail])).to.equal('plugins.mail.retry.times\n  How often | when.\n  a whole number, at least 0; default 3\n  environment: CIVIC_PLUGINS_MAIL_RETRY_TIMES or MAIL_RETRIES');
    expect(helpFor('plugins.mail.password', [mail])).to.contain('a text; required; secret');
    expect(helpFor('log', []).split('\n\n')).to.have.length(3);
    expect(helpFor(undefined, []).split('\n\n')).to.have.length(optionsOf(coreOptions).length);
    expect(() => helpFor('http.prot', [])).to.throw('There is no option http.prot. Did you mean http.port?');
    expect(() => helpFor('http_port', [])).to.throw('There is no option http_port. Did you mean http.port?');
    expect(() => helpFor('mail', [mail])).to.throw('There is no option mail. Did you mean plugins.mail?');
    expect(() => helpFor('zebra', [])).to.throw('There is no option zebra: bin/civic config help lists them all');
  });

  test('a table keeps its columns whatever the sentences hold', () => {
    expect(optionTable(config, 'plugins.mail.').split('\n')[3]).to.contain('How often \\| when.');
  });

  test('every option of core has a sentence and a default that fits', () => {
    expect(fragmentProblems(coreOptions)).to.equal([]);
    for (const [path, { doc }] of optionsOf(coreOptions)) expect(doc, path).to.match(/^[A-Z].*\.$/);
  });

  test('invalid option declarations of a plugin are reported, each with its reason', () => {
    const option = { doc: 'A sentence.', format: 'nat', default: 1 };
    expect(fragmentProblems({ enabled: option, camelCase: option, key: option, key_file: option, big: { ...option, default: -1 }, odd: { ...option, format: 'colour' }, bare: { ...option, doc: '' }, a: { b_c: option }, a_b: { c: option }, text: 'x', sub: { nothing: null } } as unknown as ConfigFragment)).to.equal([
      'enabled has a name that is taken',
      'camelCase is not in snake_case',
      'key_file and key share an environment variable',
      'big has a default that its own format refuses',
      'odd has an unknown format',
      'bare has no doc',
      'a_b.c and a.b_c share an environment variable',
      'text is not an option: write { doc, format, default }',
      'sub.nothing is not an option: write { doc, format, default }',
    ]);
  });
});
