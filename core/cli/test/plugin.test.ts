import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { projectRoot as root } from '../../root.ts';
import { createInstance } from '../../../test/support/civic.ts';
import { runCivicInProcess } from '../../../test/support/in-process.ts';
import { serveInProcess } from '../../../test/support/serving.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('bin/civic plugin new', () => {
  let folder: string;
  before(() => { folder = mkdtempSync(join(tmpdir(), 'civic-plugins-')); });
  after(() => { rmSync(folder, { recursive: true, force: true }); });

  it('writes a plugin that keeps the contract and passes its own tests untouched, outside the tree too', async () => {
    const made = await runCivicInProcess(['plugin', 'new', 'greeter', '--in', folder]);
    expect(made.code).to.equal(0);
    expect(made.stdout).to.contain(['  site:\n  greeter:\n    from: ', 'bin/civic plugin check']);
    const checked = await runCivicInProcess(['plugin', 'check', join(folder, 'greeter')]);
    expect(checked.stdout).to.contain(['✓ greeter can be loaded', '✓ it starts with only its needs', '✓ its own tests pass']);
    expect(checked.code).to.equal(0);
  });

  it('writes one that serves', async () => {
    const instance = createInstance({ plugins: { greeter: { from: join(folder, 'greeter'), word: 'Good morning' } } });
    const served = await serveInProcess(instance.configFile);
    const answer = await fetch(`${served.url}/api/greeter`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"Ada"}' });
    expect(await answer.json()).to.include({ text: 'Good morning, Ada!' });
    await served.stop();
    instance.remove();
  });

  it('writes one whose types an editor finds, inside or outside the tree', async () => {
    const write = (file: string, code: string): void => { writeFileSync(join(folder, 'greeter', file), `// @ts-check\n${code}`); };
    write('page.js', "import { definePlugin } from 'civic';\nexport default definePlugin({ name: 'page', summary: 'x', paths: { '/x': { audience: 'people' } }, register(server) { server.route({ method: 'GET', path: '/x', handler: (_request, h) => h.view('page/x') }); } });\n");
    write('asks.js', "import { definePlugin } from 'civic';\nexport default definePlugin({ name: 'asks', summary: 'x', needs: ['firehose'], register(server, civic) { civic.service('firehose').produces(['vote']); } });\n");
    write('wrong.js', "import { newId } from 'civic';\nnewId().nothing();\n");
    const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', join(folder, 'greeter')], { encoding: 'utf8' });
    for (const file of ['page.js', 'asks.js', 'wrong.js']) rmSync(join(folder, 'greeter', file));
    expect(stdout.match(/^\S+\.js\(.*$/gm), 'only the wrong file has an error: pages and the services of the kit’s plugins have types').to.have.length(1);
    expect(stdout).to.match(/wrong\.js\(3,9\): error .*'nothing' does not exist on type 'string'/);
  });

  it('says in one line that a folder cannot be written', async () => {
    const { code, stderr } = await runCivicInProcess(['plugin', 'new', 'another', '--in', join(folder, 'greeter/index.js/deeper')]);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^\S+ cannot be written: E[A-Z]+: [^\n]+\n$/);
  });

  it('never writes over one that exists, and refuses a name that cannot be one', async () => {
    const again = await runCivicInProcess(['plugin', 'new', 'greeter', '--in', folder]);
    expect(again.code).to.equal(1);
    expect(again.stderr).to.contain('exists already');
    const odd = await runCivicInProcess(['plugin', 'new', 'My-Plugin', '--in', folder]);
    expect(odd.code).to.equal(2);
    expect(odd.stderr).to.contain('use lower-case letters and digits');
    const reserved = await runCivicInProcess(['plugin', 'new', 'core', '--in', folder]);
    expect(reserved.code).to.equal(2);
  });
});

describe('bin/civic plugin check', () => {
  it('says what is wrong with a plugin, and ends with exit code 1', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-plugin-'));
    writeFileSync(join(folder, 'index.js'), `
      import { definePlugin } from 'civic';
      export default definePlugin({ name: 'odd', summary: 'Odd', register(server) {
        server.route({ method: 'GET', path: '/api/odd', handler: () => 'odd' });
      } });
    `);
    const { code, stdout, stderr } = await runCivicInProcess(['plugin', 'check', folder]);
    rmSync(folder, { recursive: true });
    expect(code).to.equal(1);
    expect(stdout).to.contain(['README.md is missing', 'GET /api/odd (odd): has no description']);
    expect(stderr).to.contain('breaks the contract');
  });

  it('finds every fault of its texts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-plugin-'));
    const write = (file: string, text: string): void => {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    };
    const check = async (): Promise<string[]> => {
      const { stdout } = await runCivicInProcess(['plugin', 'check', folder]);
      return [...stdout.matchAll(/^ +(?:- )?(.*(?:text|catalogue|declared|values|literal).*)$/gm)].map((match) => match[1]!.trim());
    };
    write('README.md', 'birds');
    write('index.js', `import { definePlugin } from 'civic';
      export default definePlugin({ name: 'birds', summary: 'Birds', problems: { no_bird: { status: 404, title: 'No bird', advice: 'Wait.' } }, async register(server, civic) {
        civic.whenComposed(async () => { const t = await civic.texts('en'); t('code.used'); t('code.absent'); t(\`kinds.\${t.language}\`); });
      } });`);
    write('templates/page.html', '<h1 title="{{t "page.bold"}}">{{t "page.title" name=name}}</h1>\n<p>Words<code>code</code> {{t "page.none"}}</p><img alt="Heron">{{t key}}{{#if a}}{{t (concat "shapes." a)}}{{/if}}');
    write('texts/en.yaml', 'page: { title: "{name} and {other}", bold: <strong>B</strong>, unused: U }\ncode: { used: used }\nkinds: { en: English }\ndeclared: { summary: Birds }\nlist: [1]');
    write('texts/es.yaml', 'page: { title: "{name}", bold: <strong>B</strong>, unused: "{", more: M }\ncode: { used: usado }\ndeclared: { problems: { no_fish: { title: x } } }');
    const faults = await check();
    write('templates/page.html', '<h1>{{t "page.title" name=name}}</h1>');
    write('texts/en.yaml', 'page: { title: "{name}" }\ncode: { used: used, absent: absent }\nkinds: { en: English }');
    write('texts/es.yaml', 'page: { title: "{name}" }\ncode: { used: usado, absent: falta }\nkinds: { en: Inglés }\ndeclared: { summary: Aves, problems: { no_bird: { title: No hay aves, advice: Espere. } } }');
    const fixed = await check();
    rmSync(folder, { recursive: true });
    expect(fixed).to.equal([]);
    for (const fault of [
      'texts/en.yaml:5: list is not a text: put it in quotes',
      'texts/es.yaml:1: page.unused is not a valid message (EXPECT_ARGUMENT_CLOSING_BRACE)',
      'page.html: line 2: the key of {{t}} is neither a literal nor (concat "…" …) that begins with one',
      'texts/es.yaml lacks kinds.en', 'texts/es.yaml has page.more, which texts/en.yaml lacks',
      'page.title has the values (name, other) in en and (name) in es',
      'texts/en.yaml has declared.summary, which is English in the declaration',
      'texts/es.yaml lacks declared.summary', 'texts/es.yaml lacks declared.problems.no_bird.title', 'texts/es.yaml has declared.problems.no_fish.title, which is not declared',
      'the text page.title has the value other, which a template does not give', 'the text page.bold has elements or links, but is used in an attribute',
      'the text page.none is used, but not in the catalogue', 'the text code.absent is used, but not in the catalogue', 'the text page.unused is not used',
      'page.html has text outside the catalogue: Words', 'page.html has text outside the catalogue: Heron',
    ]) expect(faults).to.include(fault);
    expect(faults.filter((fault) => fault.includes('code.used') || fault.includes('kinds.en is not'))).to.equal([]);
  });

  it('names two schemas of one name, which config check finds in two plugins', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-plugin-'));
    const route = (path: string, type: string) => `server.route({ method: 'GET', path: '${path}', options: { description: 'x', validate: { query: Joi.object({}) }, response: { schema: Joi.object({ size: Joi.${type}() }).meta({ name: 'Size' }) } }, handler: () => ({}) });`;
    const write = (name: string, routes: string) => {
      mkdirSync(join(folder, name), { recursive: true });
      writeFileSync(join(folder, name, 'README.md'), name);
      writeFileSync(join(folder, name, 'index.js'), `import { definePlugin, Joi } from 'civic';\nexport default definePlugin({ name: '${name}', summary: 'x', register(server) { ${routes} } });\n`);
    };
    write('twice', route('/api/twice', 'string') + route('/api/twice/b', 'number'));
    const twice = await runCivicInProcess(['plugin', 'check', join(folder, 'twice')]);
    write('one', route('/api/one', 'string'));
    write('two', route('/api/two', 'number'));
    const instance = createInstance({ plugins: { one: { from: join(folder, 'one') }, two: { from: join(folder, 'two') } } });
    const both = await instance.civicInProcess('config', 'check');
    const json = await instance.civicInProcess('config', 'check', '--json');
    instance.remove();
    rmSync(folder, { recursive: true });
    expect(twice.stdout).to.contain('Two different schemas are named Size, one in GET /api/twice (twice) and one in GET /api/twice/b (twice)');
    expect([twice.code, both.code, json.code]).to.equal([1, 1, 1]);
    expect(both.stderr).to.contain('Two different schemas are named Size, one in GET /api/one (one) and one in GET /api/two (two)');
    expect(JSON.parse(json.stdout)).to.include({ ok: false });
  });

  it('finds what a plugin needs beside it, and says so when it is nowhere', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-plugin-'));
    const write = (name: string, needs: string[]): void => {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'README.md'), name);
      writeFileSync(join(folder, name, 'index.js'), `import { definePlugin } from 'civic';\nexport default definePlugin({ name: '${name}', summary: 'x', needs: ${JSON.stringify(needs)}, register() {} });\n`);
    };
    write('asker', ['answerer']);
    const alone = await runCivicInProcess(['plugin', 'check', join(folder, 'asker')]);
    expect(alone.code).to.equal(1);
    expect(alone.stdout).to.contain(`asker needs the plugin answerer, which is neither in the kit nor at ${join(folder, 'answerer')}`);
    write('answerer', []);
    expect((await runCivicInProcess(['plugin', 'check', join(folder, 'asker')])).code).to.equal(0);
    rmSync(folder, { recursive: true });
  });

  it('says which plugin does not stop', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-plugin-'));
    writeFileSync(join(folder, 'README.md'), 'x');
    writeFileSync(join(folder, 'index.js'), `import { definePlugin } from 'civic';\nexport default definePlugin({ name: 'stuck', summary: 'x', register() { return { async stop() { throw new Error('not now'); } }; } });\n`);
    const { code, stdout } = await runCivicInProcess(['plugin', 'check', folder]);
    rmSync(folder, { recursive: true });
    expect(code).to.equal(1);
    expect(stdout).to.contain('stuck did not stop cleanly: not now');
  });

  it('says which plugin cannot start again on the data of its first start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-plugin-'));
    mkdirSync(join(folder, 'migrations'));
    writeFileSync(join(folder, 'README.md'), 'x');
    writeFileSync(join(folder, 'migrations/001_rows.js'), "export async function up(schema) { await schema.createTable('once_rows', { key: 'id', name: 'text' }); }\n");
    writeFileSync(join(folder, 'index.js'), `import { definePlugin } from 'civic';\nexport default definePlugin({ name: 'once', summary: 'x', migrations: import.meta.dirname + '/migrations', register(server, civic) {
      return { async start() { await civic.db.write((tx) => tx('once_rows').insert({ key: 1, name: 'first' })); } };
    } });\n`);
    const { code, stdout } = await runCivicInProcess(['plugin', 'check', folder]);
    rmSync(folder, { recursive: true });
    expect(code).to.equal(1);
    expect(stdout).to.match(/✗ it starts with only its needs, stops, and starts again\n +.*UNIQUE/);
  });

  it('says so when there is no plugin', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-plugin-'));
    const { code, stdout } = await runCivicInProcess(['plugin', 'check', folder]);
    rmSync(folder, { recursive: true });
    expect(code).to.equal(1);
    expect(stdout).to.contain('has no index.js');
  });
});
