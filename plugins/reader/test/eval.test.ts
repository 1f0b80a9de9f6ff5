import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StructuredReport } from '../eval/command.ts';
import { startReader, type ReaderKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const known = fileURLToPath(new URL('../shared/data/structured', import.meta.resolve('civic/package.json')));
const isKnown = existsSync(known);
if (!isKnown) process.stderr.write(`skipped: nothing is at ${known}\n`);

describe('bin/civic eval structured', () => {
  let reader: ReaderKit;
  const folder = mkdtempSync(join(tmpdir(), 'civic-eval-'));
  before(async () => { reader = await startReader(); });
  after(async () => {
    await reader.close();
    rmSync(folder, { recursive: true });
  });

  async function run(...positionals: string[]): Promise<{ report: StructuredReport; words: string }> {
    const command = reader.kit.composition.commands.find(({ name }) => name === 'eval structured')!;
    let printed: { report: StructuredReport; words: string } | null = null;
    const print = (report: unknown, words: () => string) => { printed = { report: report as StructuredReport, words: words() }; };
    const silent = () => undefined;
    await command.run({ terminal: { out: silent, err: silent, print, progress: silent, style: (_, text) => text, json: true, signal: new AbortController().signal }, positionals, options: {}, cwd: folder });
    return printed!;
  }

  it('counts the items that are found, and lists the others', async () => {
    writeFileSync(join(folder, 'one.html'), '<script type="application/ld+json">[{"@type":"Event","name":"A"},{"@type":"Event","name":"B","url":"/b"}]</script><div itemscope itemtype="http://schema.org/Event"><a itemprop=url href=c>C</a></div>');
    writeFileSync(join(folder, 'one.jsonld'), '[{"@context":"http://schema.org","@type":"Event","name":"A"},{"@type":"Event","name":"B"},{"@type":"Event","name":"C"}]');
    writeFileSync(join(folder, 'one.json'), '[{"type":"http://schema.org/Event","properties":{"url":"c"}}]');
    writeFileSync(join(folder, 'two.html'), '<p class="h-card">Ada</p>');
    writeFileSync(join(folder, 'two.json'), '{"items":[{"type":["h-card"],"properties":{"name":["Ada"]}}],"rels":{},"rel-urls":{}}');
    const { report, words } = await run('.');
    expect(report.syntaxes['json-ld']).to.include({ expected: 3, found: 1, share: 0.3333 });
    expect(report.syntaxes['json-ld']!.missing.map(({ item }) => (item as { name: string }).name)).to.equal(['B', 'C']);
    expect(report.syntaxes.microdata).to.include({ expected: 1, found: 1, share: 1 });
    expect(Object.values(report.microformats)[0]).to.include({ expected: 1, found: 1 });
    expect(words).to.contain('json-ld                1 of 3 (33.33 %)').and.to.contain(`not found: ${join(folder, 'one.html')}`);
  });

  it('rejects a folder without expected items', async () => {
    await expect(run('missing')).to.reject(`Nothing is at ${join(folder, 'missing')}`);
    const empty = mkdtempSync(join(folder, 'empty-'));
    await expect(run(empty)).to.reject(`${empty} has no page with a file of expected items beside it`);
  });

  it('finds what the project demands of itself', { skip: !isKnown }, async () => {
    const { report } = await run();
    expect(report.below).to.equal([]);
    expect(report.syntaxes['json-ld']!.expected).to.be.above(70);
    expect(report.syntaxes.microdata!.expected).to.be.above(14);
    expect(report.microformats['h-card']!.expected + report.microformats['h-event']!.expected).to.be.above(30);
  });
});
