import type { ServerRoute } from '@hapi/hapi';
import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pino from 'pino';
import { registerPages } from '../../http/pages.ts';
import { testServer } from '../../http/test/fixture.ts';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const NOON = Date.parse('2026-11-24T18:00:00Z');

describe('Texts', () => {
  let folder: string;
  let logged: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'civic-texts-'));
    logged = [];
  });
  afterEach(() => { rmSync(folder, { recursive: true }); });

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  /** Returns the page of a plugin `birds` in a language, as its template renders it inside an empty layout. */
  async function page(template: string, { context = {}, language = 'en' }: { context?: object; language?: string } = {}): Promise<string> {
    write('birds/templates/page.html', template);
    write('data/theme/layout.html', '{{{content}}}');
    const { server } = testServer();
    const instance = { name: 'Test', version: '1.2.3', public_url: 'https://civic.example', data_dir: join(folder, 'data'), user_agent: 'civic-test', demo: false };
    const log = pino({ base: null }, { write: (line: string) => { logged.push(JSON.parse(line).msg); } });
    await registerPages(server, { instance, folders: { birds: join(folder, 'birds'), nests: join(folder, 'nests') }, log, now: () => NOON });
    const route: ServerRoute = { method: 'GET', path: '/page', handler: (_request, h) => h.view('birds/page', context), options: { plugins: { civic: { internal: true } } } };
    server.route(route);
    const { statusCode, payload } = await server.inject({ url: '/page', headers: { 'accept-language': language } });
    expect(statusCode).to.equal(200);
    return payload;
  }

  it('choose the plural form, write numbers and dates as in the language, and take the time zone of the page', async () => {
    write('birds/texts/en.yaml', 'seen: "{count, plural, =0 {none} one {# bird} other {# birds}} on {at, date} ({at, time})"');
    write('birds/texts/es.yaml', 'seen: "{count, plural, =0 {ninguna} one {# ave} other {# aves}} el {at, date} ({at, time})"');
    const shown = (count: number, language: string) => page('{{t "seen" count=count at=at timeZone="America/Chicago"}}', { context: { count, at: '2026-11-25T00:30:00Z' }, language });
    expect(await shown(1204, 'en')).to.match(/^1,204 birds on Nov 24, 2026 \(Tue, Nov 24, 6:30\sPM CST\)$/);
    expect(await shown(1, 'es')).to.match(/^1 ave el 24 nov 2026 \(mar, 24 de nov, 6:30\sp\.\sm\. CST|^1 ave el 24 nov 2026 \(mar, 24 de nov, 6:30\sp\.m\. CST\)$/);
    expect(await shown(0, 'es')).to.contain('ninguna');
  });

  it('escape values and everything that is no element or link', async () => {
    write('birds/texts/en.yaml', 'rules: "<strong>{name}</strong> & <script>alert(1)</script>: <rules>the ‘rules’</rules>, <code>a < b</code>"');
    const html = await page('{{t "rules" name=name rules=(concat base "/rules?a=1&b=" b) script="x"}}', { context: { name: '<b>"Ada"', b: '"2"' } });
    expect(html).to.equal('<strong>&lt;b&gt;&quot;Ada&quot;</strong> &amp; <a href="x">alert(1)</a>: <a href="/rules?a=1&amp;b=&quot;2&quot;">the ‘rules’</a>, <code>a &lt; b</code>');
  });

  it('of a partial are those of its own plugin, also on a page of another; core. means core', async () => {
    write('birds/texts/en.yaml', 'title: Birds');
    write('nests/texts/en.yaml', 'title: Nests of {name}');
    write('nests/templates/partials/card.html', '{{t "title" name=name}}, {{t "core.field.optional"}}');
    expect(await page('{{t "title"}}: {{#each all}}{{> nests/card name=this}}; {{/each}}', { context: { all: ['A', 'B'] }, language: 'es' })).to.equal('Birds: Nests of A, opcional; Nests of B, opcional; ');
  });

  it('that are missing are English, then the key, and are logged once', async () => {
    write('birds/texts/en.yaml', 'only: English only');
    write('birds/texts/es.yaml', 'other: "{broken"');
    expect(await page('{{t "only"}} {{t "only"}} {{t "no.such"}} {{t (concat "<b>." "x")}} {{t "other"}}', { language: 'es' })).to.equal('English only English only no.such &lt;b&gt;.x other');
    expect(logged.filter((line) => line.includes('birds.only'))).to.equal(['The text birds.only is missing in es']);
    expect(logged.filter((line) => line.includes('birds.no.such'))).to.equal(['The text birds.no.such is missing in es', 'The text birds.no.such is missing in en']);
    expect(logged).to.include('The text birds.other is not a valid message in es');
  });

  it('with a value that the page does not give have nothing in its place', async () => {
    write('birds/texts/en.yaml', 'a: "[{name}] {count, plural, one {#} other {#}} {at, date}"');
    expect(await page('{{t "a"}}')).to.equal('[] 0 ');
  });

  it('come with dates and numbers alone, and today and yesterday by name', async () => {
    const template = '{{formatNumber 1204}}|{{formatDate at}}|{{formatDate day timeZone="America/Chicago"}}|{{formatDay at timeZone="America/Chicago"}}|{{formatDay before}}|{{formatDay old}}|{{formatDate none}}|{{formatHour at timeZone="America/Chicago"}}|{{formatTime day timeZone="America/Chicago"}}|{{formatTime at timeZone="Nowhere/Land"}}';
    const context = { at: '2026-11-25T00:30:00Z', day: '2026-11-24', before: '2026-11-23T23:59:00Z', old: '2026-11-22T12:00:00Z' };
    const [zone, wholeDay, ...others] = (await page(template, { context })).split('|').toReversed();
    expect(others.toReversed()).to.equal(['1,204', 'Nov 25, 2026', 'Nov 24, 2026', 'today', 'yesterday', 'Nov 22, 2026', '', '6:30 PM CST']);
    expect([wholeDay, zone]).to.equal(['Tue, Nov 24', 'Wed, Nov 25, 12:30 AM UTC']);
    expect(await page(template, { context, language: 'es-MX' })).to.match(/^1,204\|25 nov 2026\|24 nov 2026\|hoy\|ayer\|22 nov 2026\|\|.*UTC$/);
  });

  it('survive a file that is no YAML, which is logged with its line', async () => {
    write('birds/texts/en.yaml', 'a: fine\nb: [');
    expect(await page('{{t "a"}}')).to.equal('a');
    expect(logged[0]).to.match(/birds\/texts\/en\.yaml:2: /);
  });
});
