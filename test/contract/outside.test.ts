import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../core/root.ts';
import { until } from '../../core/test/wait.ts';
import { stoppedClock, testDatabases, testServer, type TestServer } from '../../core/testing.ts';
import { runCommand } from '../../plugins/accounts/test/kit.ts';
import { pageReader, type PageReader } from '../../plugins/accounts/test/reader.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

// At an address where passkeys cannot work a link signs in fully.
const HOME = 'http://192.0.2.7:8080';
const HOUR = 3_600_000;
const COUNT = { site: 'Kaw Point', birds: 12, source_url: 'https://herons.example/kaw-point' };

let outside: string;
before(() => {
  outside = mkdtempSync(join(tmpdir(), 'civic-outside-'));
  cpSync(join(projectRoot, 'docs/examples/herons'), join(outside, 'herons'), { recursive: true });
});
after(() => { rmSync(outside, { recursive: true }); });

for (const database of testDatabases()) {
  describe(`A plugin outside the tree (${database})`, () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    let kit: TestServer;
    let reader: PageReader;
    let account: { id: string; sign_in_link: string };
    before(async () => {
      const config = { public_url: HOME, jobs: { poll_seconds: 0.1 }, plugins: { firehose: { anonymous: true }, ratelimit: { counting: { requests_per_minute: 5 } }, herons: { kept_days: 0 } } };
      const plugins = ['accounts', 'console', 'ratelimit', 'firehose', join(outside, 'herons')];
      kit = await testServer({ database, plugins, clock, config, listen: true });
      account = await runCommand(kit, 'account create', { name: 'Ada Example', plan: 'individual' }, []);
      reader = pageReader(kit);
      await reader.follow(account.sign_in_link);
    });
    after(() => kit.close());

    const report = (key: string, count: object = COUNT) => kit.request('POST', '/api/herons', { payload: count, headers: { 'x-api-key': key } });

    /** Creates a key with the plugin's scope on the page, as a person does. */
    async function keyFromPage(): Promise<string> {
      const page = await reader.get('/account/keys');
      expect(page.text).to.match(/value="herons:write" checked>\s*<span>Report heron counts <code>herons:write/);
      const workspace = /name="workspace" value="([^"]+)"/.exec(page.text)![1]!;
      const made = await reader.post('/account/keys', { name: 'Counter', workspace, lives: '30', scopes: ['herons:write'] });
      return /id="key">([^<]+)/.exec(made.text)![1]!;
    }

    it('adds to the console what needs attention, a section and a plot', async () => {
      const team = await runCommand(kit, 'account create', { name: 'Con Example', plan: 'team', role: 'user' }, []);
      const { key } = await runCommand(kit, 'key create', { account: team.id, scopes: ['herons:write'] }, []);
      const quiet = (await reader.get('/es/console')).text;
      expect(quiet).to.contain(['No se contaron garzas durante 30 días', 'Pregunte a los observadores.', '<h2 id="herons">Garzas</h2>', 'Todavía no se contaron garzas.', '<h3>Recuentos de garzas</h3>']);
      expect((await report(key, { ...COUNT, site: 'Console Point', birds: 5 })).status).to.equal(201);
      await until(async () => (await reader.get('/console')).text.includes('<strong>5</strong> at Console Point'));
      const { text } = await reader.get('/console');
      expect(text).to.not.contain('No herons were counted for');
      expect(/<h3>Heron counts<\/h3>\s*<p class="figure"><strong>(\d+)</.exec(text)?.[1]).to.equal('1');
      await kit.db.write((tx) => tx('herons_counts').delete());
    });

    it('has its scope on keys that are created on the page and by command, and its route honours them', async () => {
      const fromPage = await keyFromPage();
      expect((await report(fromPage)).status).to.equal(201);
      expect(await runCommand(kit, 'key list', { account: account.id }, [])).to.have.length(1);
      const team = await runCommand(kit, 'account create', { name: 'Bo Example', plan: 'team' }, []);
      const byCommand = await runCommand(kit, 'key create', { account: team.id, scopes: ['herons:write'] }, []);
      expect(byCommand.scopes).to.equal(['herons:write']);
      expect((await report(byCommand.key, { ...COUNT, birds: 3 })).status).to.equal(201);
      const other = await runCommand(kit, 'key create', { account: team.id, scopes: ['workspace:read'] }, []);
      expect((await report(other.key)).body.code).to.equal('insufficient_scope');
      const { body } = await kit.request('GET', '/api/herons');
      expect(body.data.map(({ birds }: { birds: number }) => birds)).to.equal([3, 12]);
    });

    it('limits what plans allow, on pages, in the API and in what the operator reads', async () => {
      const { body } = await kit.request('GET', '/api/plans');
      expect(body.data.map(({ name, heron_counts, capabilities }: any) => [name, heron_counts, capabilities.includes('herons')])).to.equal([['free', 0, false], ['individual', 2, true], ['research_pass', 0, false], ['team', 100, true]]);
      expect((await reader.get('/account/plan')).text).to.contain('<th scope="col">Heron counts a day</th>');
      const pass = await runCommand(kit, 'account create', { name: 'Cy Example', plan: 'research_pass' }, []);
      const { key, scopes } = await runCommand(kit, 'key create', { account: pass.id }, []);
      expect(scopes).to.not.include('herons:write');
      await runCommand(kit, 'account set-plan', { account: pass.id, plan: 'individual' }, []);
      const { key: allowed } = await runCommand(kit, 'key create', { account: (await runCommand(kit, 'account create', { name: 'Di Example', plan: 'individual' }, [])).id }, []);
      for (const status of [201, 201, 409]) expect((await report(allowed)).status).to.equal(status);
      expect((await report(key)).body.code).to.equal('insufficient_scope');
    });

    it('honours the limit when requests arrive at the same time', async () => {
      const person = await runCommand(kit, 'account create', { name: 'Al Example', plan: 'individual' }, []);
      const { key } = await runCommand(kit, 'key create', { account: person.id }, []);
      const responses = await Promise.all([1, 2, 3, 4].map(() => report(key)));
      expect(responses.map(({ status }) => status).sort()).to.equal([201, 201, 409, 409]);
    });

    it('has a rate class that the operator changes', async () => {
      const team = await runCommand(kit, 'account create', { name: 'Ed Example', plan: 'team' }, []);
      const { key } = await runCommand(kit, 'key create', { account: team.id }, []);
      const statuses = [];
      for (let i = 0; i < 6; i++) statuses.push((await report(key)).status);
      expect(statuses).to.equal([201, 201, 201, 201, 201, 429]);
      expect((await report(key)).body.detail).to.contain('5 requests a minute are allowed to an account for counting herons');
    });

    it('publishes signals of its own type, which stream and are in AsyncAPI', async () => {
      const team = await runCommand(kit, 'account create', { name: 'Flo Example', plan: 'team' }, []);
      const { key } = await runCommand(kit, 'key create', { account: team.id }, []);
      const stop = new AbortController();
      const stream = await fetch(`${kit.url}/api/firehose?visibility=public&signal_type=heron_count&last_event_id=0`, { headers: { accept: 'text/event-stream' }, signal: stop.signal });
      expect(stream.status).to.equal(200);
      await report(key, { ...COUNT, site: 'Blue River', birds: 77 });
      let text = '';
      for await (const chunk of stream.body!) {
        text += Buffer.from(chunk as Uint8Array).toString();
        if (text.includes('77 herons at Blue River')) break;
      }
      expect(text).to.contain('"facts":{"site":"Blue River","birds":77}');
      stop.abort();
      expect((await kit.request('GET', '/asyncapi.json')).text).to.contain('heron_count');
      expect((await kit.request('GET', '/signals', { headers: { accept: 'text/html' } })).text).to.contain(['Heron count', '77 herons at Blue River']);
    });

    it('renders its page with its template and asset, in the navigation of every page', async () => {
      const page = await kit.request('GET', '/herons', { headers: { accept: 'text/html' } });
      const asset = /<link rel="stylesheet" href="(\/assets\/herons\/[^"]+)">/.exec(page.text)![1]!;
      expect(page.text).to.contain(['<h1>Herons</h1>', COUNT.source_url]);
      expect((await kit.request('GET', asset)).text).to.contain('.herons .sites');
      expect((await kit.request('GET', '/docs', { headers: { accept: 'text/html' } })).text).to.contain('href="/herons"');
    });

    it('handles its event and runs its command and its job', async () => {
      const { birds } = (await kit.request('GET', '/api/herons')).body.data.reduce((sum: { birds: number }, one: { birds: number }) => ({ birds: sum.birds + one.birds }), { birds: 0 });
      let sites: { site: string; birds: number }[] = [];
      await until(async () => {
        sites = await runCommand(kit, 'herons report', {}, []);
        return sites.reduce((sum, site) => sum + site.birds, 0) >= birds;
      });
      expect(sites.map(({ site }) => site)).to.equal(['Blue River', 'Console Point', 'Kaw Point']);
      clock.advance(2 * HOUR);
      await until(async () => (await kit.request('GET', '/api/herons')).body.data.length === 0);
    });
  });
}

describe('The walk-through of docs/writing-plugins.md', () => {
  it('shows the plugin as it is', () => {
    const page = readFileSync(join(projectRoot, 'docs/writing-plugins.md'), 'utf8');
    const blocks = [...page.matchAll(/```\w+ (\S+)\n([^]*?)```/g)];
    expect(blocks.map(([, file]) => file)).to.include(['index.js', 'store.js', 'migrations/001_counts.js', 'templates/list.html', 'test/herons.test.js']);
    for (const [, file, code] of blocks) {
      const text = readFileSync(join(projectRoot, 'docs/examples/herons', file!), 'utf8');
      for (const part of code!.split(/^ *…\n/m)) expect(text, `${file}: ${part}`).to.contain(part);
    }
  });
});
