import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInstance, testPlugins } from '../../../test/support/civic.ts';
import { serveInProcess } from '../../../test/support/serving.ts';
import { runCivicInProcess } from '../../../test/support/in-process.ts';
import { hasNodeSqlite } from '../../database/sqlite/choose.ts';
import { nodeResult } from '../checks.ts';

export const lab = Lab.script();
const { describe, it } = lab;

interface Finding {
  name: string;
  status: string;
  detail: string;
  fix?: string;
}

async function findings(config: object | string): Promise<{ code: number | null; byName: Map<string, Finding> }> {
  const instance = createInstance(config);
  const { code, stdout } = await instance.civicInProcess('doctor', '--json');
  instance.remove();
  const { findings: found } = JSON.parse(stdout) as { findings: Finding[] };
  return { code, byName: new Map(found.map((finding) => [finding.name, finding])) };
}

describe('bin/civic doctor', () => {
  it('finds nothing wrong with a fresh instance, before its first start', async () => {
    const { code, byName } = await findings({ plugins: { notes: { from: join(testPlugins, 'notes') } } });
    expect(code).to.equal(0);
    for (const name of ['node', 'data folder', 'disk', 'file system', 'clock', 'config', 'public address', 'proxy', 'database']) expect(byName.get(name)?.status, name).to.equal('ok');
  });

  it('names each text of the theme that cannot be used, and pages show the kit’s own', async () => {
    const instance = createInstance();
    const theme = join(instance.folder, 'data/theme');
    mkdirSync(theme, { recursive: true });
    writeFileSync(join(theme, 'texts.en.yaml'), 'core:\n  welcome:\n    lead: "{count}"\n    read_doc: x\n    api: "{"\n    running: Our plugins\noauth: { x: y }\nacounts: { x: y }\n');
    writeFileSync(join(theme, 'texts.es.yaml'), 'core:\n  welcome: [\n');
    const { code, stdout } = await instance.civicInProcess('doctor', '--json');
    const served = await serveInProcess(instance.configFile);
    const page = await (await fetch(served.url, { headers: { accept: 'text/html' } })).text();
    const spanish = await (await fetch(`${served.url}/es/`, { headers: { accept: 'text/html' } })).text();
    await served.stop();
    instance.remove();
    const { status, detail, fix } = (JSON.parse(stdout) as { findings: Finding[] }).findings.find(({ name }) => name === 'theme')!;
    expect([code, status]).to.equal([0, 'warning']);
    const faults = [
      `${theme}/texts.en.yaml:3: core.welcome.lead uses "count", which the page does not give`,
      `${theme}/texts.en.yaml:4: core.welcome.read_doc is no text of the kit: did you mean "welcome.read_docs"?`,
      `${theme}/texts.en.yaml:5: core.welcome.api is not a valid message (EXPECT_ARGUMENT_CLOSING_BRACE)`,
      `${theme}/texts.en.yaml:8: acounts.x belongs to no plugin that runs`,
    ];
    expect(detail.split('; ').slice(0, 4)).to.equal(faults);
    expect(detail.split('; ')[4]).to.contain(`${theme}/texts.es.yaml:3: `);
    expect(fix).to.contain('docs/themes.md');
    for (const fault of faults) expect(served.output(), 'the log of the first page').to.contain(JSON.stringify(fault));
    expect(page).to.contain(['Our plugins', 'Read the API documentation', 'A directory of the people']);
    expect(spanish).to.contain('Leer la documentación');
  });

  it('changes nothing while it looks', async () => {
    const instance = createInstance();
    await instance.civicInProcess('doctor');
    expect(existsSync(join(instance.folder, 'data'))).to.be.false();
    const file = join(instance.folder, 'elsewhere/civic.db');
    writeFileSync(instance.configFile, JSON.stringify({ data_dir: join(instance.folder, 'data'), database: { url: `sqlite:${file}` } }));
    await instance.civicInProcess('doctor');
    expect(existsSync(file)).to.be.false();
    instance.remove();
  });

  it('says which command applies what a newly named plugin needs', async () => {
    const instance = createInstance();
    await instance.civicInProcess('migrate');
    writeFileSync(instance.configFile, JSON.stringify({ data_dir: join(instance.folder, 'data'), plugins: { notes: { from: join(testPlugins, 'notes') } } }));
    const { code, stdout } = await instance.civicInProcess('doctor');
    instance.remove();
    expect(code).to.equal(0);
    expect(stdout).to.contain(['! migrations: 1 not applied yet', 'Do: bin/civic serve applies them, or bin/civic migrate']);
  });

  it('warns while requests are not limited', async () => {
    const instance = createInstance();
    await instance.civicInProcess('migrate');
    const { code, stdout } = await instance.civicInProcess('doctor');
    instance.remove();
    expect(code).to.equal(0);
    expect(stdout).to.contain(['! core: rate limits: requests are not limited', 'Do: switch on a plugin that limits requests', '! plugins: off: accounts, console, directory, discovery, firehose, flags, ingest, mcp, oauth, ratelimit, reader, site, workspaces.', 'Do: add "accounts:" and "ratelimit:" under "plugins:" in ']);
  });

  it('goes on with a broken config, and shows what is wrong with it', async () => {
    const { code, byName } = await findings('http:\n  prot: 80\n');
    expect(code).to.equal(1);
    expect(byName.get('node')?.status).to.equal('ok');
    expect(byName.get('config')?.status).to.equal('failed');
    expect(byName.get('config')?.detail).to.contain('prot');
  });

  it('names a SQLite driver that Node does not have, with and without a database', { skip: hasNodeSqlite() }, async () => {
    const instance = createInstance({ database: { driver: 'node' } });
    const ofDatabase = async () => {
      const { code, stdout } = await instance.civicInProcess('doctor', '--json');
      return { code, ...(JSON.parse(stdout) as { findings: Finding[] }).findings.find(({ name }) => name === 'database') };
    };
    const wanted = { code: 1, name: 'database', status: 'failed', detail: `database.driver is node, but Node ${process.versions.node} has no SQLite of its own with full-text search`, fix: 'use Node 22.16 or newer of 22, or Node 24 or newer, or set database.driver to auto' };
    expect(await ofDatabase()).to.equal(wanted);
    expect(existsSync(join(instance.folder, 'data'))).to.be.false();
    await runCivicInProcess(['migrate', '--config', instance.configFile], { env: { CIVIC_DATABASE_DRIVER: 'auto' } });
    expect(await ofDatabase()).to.equal(wanted);
    instance.remove();
  });

  it('warns of a public address that is not encrypted, and of a proxy that is not trusted', async () => {
    const plain = await findings({ public_url: 'http://civic.example.org' });
    expect(plain.byName.get('public address')).to.include({ status: 'warning', detail: 'http://civic.example.org is not encrypted' });
    const proxied = await findings({ public_url: 'https://civic.example.org' });
    expect(proxied.byName.get('public address')?.status).to.equal('ok');
    expect(proxied.byName.get('proxy')?.fix).to.contain('http.trusted_proxies');
    expect(proxied.code).to.equal(0);
  });

  it('warns when private addresses may be fetched', async () => {
    const open = await findings({ http: { fetch: { allow_private_addresses: true } } });
    expect(open.byName.get('fetched addresses')).to.include({ status: 'warning' });
    expect(open.byName.get('fetched addresses')?.fix).to.contain('http.fetch.allow_private_addresses');
  });

  it('names a database that cannot be reached, without its password', async () => {
    const { code, byName } = await findings({ database: { url: 'postgres://civic:top-secret@127.0.0.1:1/civic' } });
    expect(code).to.equal(1);
    expect(byName.get('database')?.status).to.equal('failed');
    expect(JSON.stringify([...byName.values()])).to.not.contain('top-secret');
  });

  it('goes on when a check of a plugin throws instead of answering', async () => {
    const instance = createInstance();
    const plugin = join(instance.folder, 'rash.mjs');
    writeFileSync(plugin, "export default { name: 'rash', summary: 'Throws', register: (_, civic) => civic.check({ name: 'luck', run() { throw new Error('none left'); } }) };\n");
    writeFileSync(instance.configFile, JSON.stringify({ data_dir: join(instance.folder, 'data'), plugins: { rash: { from: plugin } } }));
    await instance.civicInProcess('migrate');
    const { stdout } = await instance.civicInProcess('doctor');
    instance.remove();
    expect(stdout).to.contain('rash: luck: none left');
  });

  it('reports an address that a check cannot request as a finding, without a line of the log', async () => {
    const instance = createInstance();
    const plugin = join(instance.folder, 'outside.mjs');
    const check = "{ name: 'reach', run: () => civic.fetch('https://10.0.0.1/').then(() => ({ status: 'ok', detail: '' }), () => ({ status: 'warning', detail: 'no way out' })) }";
    writeFileSync(plugin, `export default { name: 'outside', summary: 'Sends a request', register: (_, civic) => civic.check(${check}) };\n`);
    writeFileSync(instance.configFile, JSON.stringify({ data_dir: join(instance.folder, 'data'), plugins: { outside: { from: plugin } } }));
    await instance.civicInProcess('migrate');
    const { stdout, stderr } = await instance.civicInProcess('doctor');
    instance.remove();
    expect(stdout).to.contain('outside: reach: no way out');
    expect(stderr).to.equal('');
  });

  it('knows which versions of Node will do', () => {
    for (const version of ['20.19.0', '22.1.0', '24.9.9', '26.10.0', '28.0.0']) expect(nodeResult(version).status).to.equal('ok');
    for (const version of ['18.20.0', '20.18.9']) expect(nodeResult(version)).to.include({ status: 'failed', fix: 'use Node 20.19 or newer' });
  });
});
