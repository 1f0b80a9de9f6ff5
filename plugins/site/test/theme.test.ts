import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { siteKit, type SiteKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const DOCS = readFileSync(join(import.meta.dirname, '../../../../docs/themes.md'), 'utf8');
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><circle cx="5" cy="5" r="4"/></svg>';

/** Returns the example of docs/themes.md that begins with a line. */
function example(line: string): string {
  const at = DOCS.indexOf(`\n${line}\n`);
  expect(at, line).to.be.above(0);
  return DOCS.slice(at + line.length + 2, DOCS.indexOf('```', at));
}

describe('A theme of the site', () => {
  let data: string;
  let kit: SiteKit;
  before(async () => {
    data = mkdtempSync(join(tmpdir(), 'civic-site-theme-'));
    const files = {
      'site/home.html': example('<!-- data/theme/site/home.html -->'),
      'site/partials/counted.html': example('<!-- data/theme/site/partials/counted.html -->'),
      'texts.es.yaml': example('# In data/theme/texts.es.yaml:'),
      'style.css': example('/* data/theme/style.css */'),
      'icon.svg': ICON,
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(data, 'theme', path)), { recursive: true });
      writeFileSync(join(data, 'theme', path), text);
    }
    kit = await siteKit({ config: { data_dir: data } });
    await kit.add({ name: 'Gladstone Tenants Union', place: 'gladstone,missouri', issue_area: 'housing_affordability' });
  });
  after(async () => {
    await kit.close();
    rmSync(data, { recursive: true });
  });

  const text = async (path: string): Promise<string> => (await kit.open(path)).text;

  it('replaces a page, and a part on every page', async () => {
    const home = await text('/');
    expect(home).to.contain(['Who does what in Harbour Town', 'name="query"', 'Gladstone, MO</a> <span class="count">(1)</span>']).and.not.contain('Who is working on what, near you?');
    expect(await text('/issues/housing_affordability')).to.contain(['Gladstone Tenants Union', 'Gladstone, MO</a> <span class="count">(1)</span>']);
  });

  it('replaces a text in Spanish, and keeps the others', async () => {
    expect(await text('/es/')).to.contain(['<h2>Lugares que cubrimos</h2>', 'Ciudad, código postal, tema o nombre']);
    expect(await text('/en/')).to.contain('<h2>Places</h2>');
  });

  it('replaces the logo, and adds colours', async () => {
    const page = await text('/about');
    const asset = async (pattern: RegExp): Promise<string> => (await kit.request('GET', pattern.exec(page)![1]!)).text;
    expect(await asset(/<img src="(\/assets\/icon[^"]+)"/)).to.equal(ICON);
    expect(await asset(/href="(\/assets\/style[^"]+)"/)).to.contain(['--ground:', '--accent: #7a2e0e']);
  });
});
