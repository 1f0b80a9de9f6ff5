import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../root.ts';
import { checkConfig } from '../check.ts';
import { optionsOf } from '../format.ts';
import { fragmentProblems } from '../fragment.ts';
import { type Documented, exampleYaml, generatedFiles, helpFor, jsonSchema, optionTable } from '../generate.ts';
import { readConfigFile, readConfigText } from '../load.ts';
import { coreOptions } from '../options.ts';

export const lab = Lab.script();
const { experiment, test } = lab;

const mail: Documented = {
  name: 'mail',
  summary: 'Sends letters.',
  config: {
    password: { doc: 'The password.', format: String, default: null, sensitive: true },
    retry: { times: { doc: 'How often | when.', format: 'nat', default: 3, env: 'MAIL_RETRIES' } },
  },
};
const options = { env: {}, args: {}, root: projectRoot };

experiment('what is generated from the options', () => {
  test('the files in the repository are what the code says', () => {
    for (const [name, text] of generatedFiles([], projectRoot)) {
      if (process.env.CIVIC_UPDATE_GOLDEN) writeFileSync(join(projectRoot, name), text);
      expect(readFileSync(join(projectRoot, name), 'utf8') === text, `${name} is up to date`).to.be.true();
    }
  });

  test('the example has every option and no mistake, and changes nothing', () => {
    const document = readConfigText(exampleYaml([mail]), 'example.yaml', options);
    const { config, errors } = checkConfig(document, new Map());
    expect(errors).to.equal([]);
    const { plugins, ...core } = config;
    const { plugins: none, ...defaults } = checkConfig(readConfigText('', 'x', options), new Map()).config;
    expect(core).to.equal(defaults);
    expect([plugins, none]).to.equal([{ mail: { enabled: false, from: null } }, {}]);
  });

  test('the file that runs when there is none of one\'s own has no mistake', () => {
    const document = readConfigFile({ ...options, file: join(projectRoot, 'config/civic.default.yaml') });
    expect(checkConfig(document, new Map()).errors).to.equal([]);
  });

  test('the JSON Schema describes options of core and of plugins, and shows no secret', () => {
    const schema = jsonSchema([mail]) as any;
    expect(schema.properties.http.properties.port).to.equal({ description: 'The port to listen on; 0 takes any free one.', default: 8080, anyOf: [{ type: 'integer', minimum: 0, maximum: 65535 }, { $ref: '#/$defs/variable' }] });
    expect(schema.properties.plugins.properties.mail.properties).to.include(['enabled', 'from', 'password', 'retry']);
    expect(schema.properties.http.additionalProperties).to.be.false();
  });

  test('help explains an option, a section, or all of them, and knows the nearest name', () => {
    expect(helpFor('plugins.mail.retry.times', [mail])).to.equal('plugins.mail.retry.times\n  How often | when.\n  a whole number, at least 0; default 3\n  environment: CIVIC_PLUGINS_MAIL_RETRY_TIMES or MAIL_RETRIES');
    expect(helpFor('plugins.mail.password', [mail])).to.contain('a text; required; secret');
    expect(helpFor('log', []).split('\n\n')).to.have.length(3);
    expect(helpFor(undefined, []).split('\n\n')).to.have.length(optionsOf(coreOptions).length);
    expect(() => helpFor('http.prot', [])).to.throw('There is no option http.prot. Did you mean http.port?');
    expect(() => helpFor('zebra', [])).to.throw('There is no option zebra');
  });

  test('a table keeps its columns whatever the sentences hold', () => {
    expect(optionTable(mail.config!, 'plugins.mail.').split('\n')[3]).to.contain('How often \\| when.');
  });

  test('every option of core has a sentence and a default that fits', () => {
    expect(fragmentProblems(coreOptions).filter((problem) => !problem.startsWith('metrics'))).to.equal([]);
    for (const [path, { doc }] of optionsOf(coreOptions)) expect(doc, path).to.match(/^[A-Z].*\.$/);
  });

  test('options a plugin declares wrongly are told, each with its reason', () => {
    const option = { doc: 'A sentence.', format: 'nat', default: 1 };
    expect(fragmentProblems({ enabled: option, camelCase: option, key: option, key_file: option, big: { ...option, default: -1 }, odd: { ...option, format: 'colour' }, bare: { ...option, doc: '' }, a: { b_c: option }, a_b: { c: option } })).to.equal([
      'enabled has a name that is taken',
      'camelCase is not in snake_case',
      'key_file and key share an environment variable',
      'big has a default that its own format refuses',
      'odd has an unknown format',
      'bare has no doc',
      'a_b.c and a.b_c share an environment variable',
    ]);
  });
});
