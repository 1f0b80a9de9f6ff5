import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { coreKeysUsed, filesIn, problemPaths, textFaults, textSourcesOf, type TextSources } from '../../core/cli/texts.ts';
import { coreProblems } from '../../core/http/codes.ts';
import { bundledPlugins, loadPlugin } from '../../core/load.ts';
import { projectRoot } from '../../core/root.ts';

export const lab = Lab.script();
const { before, describe, it } = lab;

const folderOf = (name: string): string => join(projectRoot, 'plugins', name);

describe('The texts', () => {
  const plugins = new Map<string, TextSources>();
  before(async () => {
    for (const name of bundledPlugins()) plugins.set(name, textSourcesOf(await loadPlugin(name, undefined, projectRoot), folderOf(name)));
  });

  it('of core are complete in every language, and all are used', async () => {
    const faults = await textFaults({
      texts: join(projectRoot, 'templates/texts'),
      templates: join(projectRoot, 'templates'),
      code: filesIn(join(projectRoot, 'core'), /\.ts$/),
      declared: problemPaths(Object.keys(coreProblems)),
      usedByOthers: [...plugins.values()].flatMap(coreKeysUsed),
    });
    expect(faults).to.equal([]);
  });

  for (const name of bundledPlugins()) {
    it(`of ${name} are complete in every language, and all are used`, async () => {
      expect(await textFaults(plugins.get(name)!)).to.equal([]);
      expect(existsSync(join(folderOf(name), 'texts/es.yaml'))).to.be.true();
    });
  }

  it('of all templates are in a catalogue', () => {
    const left = bundledPlugins().filter((name) => existsSync(join(folderOf(name), 'templates')) && !existsSync(join(folderOf(name), 'texts/en.yaml')));
    expect(left).to.equal([]);
  });
});
