import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { projectRoot } from '../../root.ts';
import { testServer, type TestServer } from '../../testing.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const page = readFileSync(join(projectRoot, 'docs/themes.md'), 'utf8');

/** The files of the example, by their path in the data folder: each block begins with a comment that names it. */
function exampleFiles(): [path: string, text: string][] {
  return [...page.matchAll(/```\w+\n(?:\/\*|<!--|#) data\/(\S+).*\n([^]*?)```/g)].map((match) => [match[1]!, match[2]!]);
}

function writeExample(data: string, isWanted: (file: [path: string, text: string]) => boolean): void {
  for (const [path, text] of exampleFiles().filter(isWanted)) {
    mkdirSync(dirname(join(data, path)), { recursive: true });
    writeFileSync(join(data, path), text);
  }
}

describe('docs/themes.md', () => {
  let data: string;
  let kit: TestServer;

  before(async () => {
    data = mkdtempSync(join(tmpdir(), 'civic-theme-'));
    writeExample(data, ([path]) => !path.endsWith('.yaml'));
    kit = await testServer({ config: { name: 'Harbour Town', data_dir: data } });
  });
  after(async () => {
    await kit.close();
    rmSync(data, { recursive: true });
  });

  it('has an example that changes style, footer and welcome page', async () => {
    expect(exampleFiles().map(([path]) => path)).to.equal(['theme/style.css', 'theme/partials/footer.html', 'theme/welcome.html', 'theme/texts.en.yaml', 'theme/texts.es.yaml', 'theme/site/home.html', 'theme/site/partials/counted.html']);
    const { text } = await kit.request('GET', '/', { headers: { accept: 'text/html' } });
    expect(text).to.contain(['Who does what in Harbour Town', 'Harbour Town, run by the Harbour Town Library', '<header class="top">']);
    expect(text).to.not.contain('run with Civic');
    const style = await kit.request('GET', /href="(\/assets\/style[^"]+)"/.exec(text)![1]!);
    expect(style.text).to.contain(['--ground:', '--accent: #7a2e0e']);
    expect(style.text.lastIndexOf('--accent: #7a2e0e')).to.be.above(style.text.indexOf('--ground:'));
  });

  it('has an example that changes texts in both languages and keeps the others', async () => {
    const other = mkdtempSync(join(tmpdir(), 'civic-theme-texts-'));
    writeExample(other, ([path]) => path.endsWith('.yaml'));
    const themed = await testServer({ config: { name: 'Harbour Town', data_dir: other } });
    const page = async (language: string): Promise<string> => (await themed.request('GET', '/', { headers: { 'accept': 'text/html', 'accept-language': language } })).text;
    const [english, spanish] = [await page('en'), await page('es')];
    await themed.close();
    rmSync(other, { recursive: true });
    expect(english).to.contain(['Harbour Town, run by the Harbour Town Library with Civic', 'Who does what in Harbour Town', 'Read the API documentation']);
    expect(spanish).to.contain(['Harbour Town, un servicio de la biblioteca de Harbour Town con Civic', 'Un directorio de las personas', 'Leer la documentación']);
  });

  it('changes other pages only around their content', async () => {
    const { text } = await kit.request('GET', '/problems', { headers: { accept: 'text/html' } });
    expect(text).to.contain(['run by the Harbour Town Library', 'invalid_request']);
  });

  it('names only files of the kit that exist', () => {
    for (const path of ['templates/partials/header.html', 'templates/partials/footer.html', 'templates/layout.html', 'templates/pages/welcome.html', 'templates/assets/icon.svg', 'plugins/firehose/templates/signals.html', 'plugins/firehose/assets/look.css']) {
      expect(existsSync(join(projectRoot, path)), path).to.be.true();
      expect(page, path).to.contain(path.replace(/^(templates\/(pages\/|assets\/)?|plugins\/)/, '').replace('templates/', '').replace('assets/', ''));
    }
  });
});
