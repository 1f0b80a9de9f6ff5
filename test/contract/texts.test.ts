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

/** Plugins whose templates still have their texts in English. Remove a name with its conversion; add none. */
const NOT_CONVERTED = ['oauth'];

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
      english: ['pages/docs.html', ...['fields', 'operation', 'type'].map((name) => `partials/${name}.html`)],
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

  it('are in the catalogue, except those of plugins that are not converted yet', () => {
    const left = bundledPlugins().filter((name) => existsSync(join(folderOf(name), 'templates')) && !existsSync(join(folderOf(name), 'texts/en.yaml')));
    expect(left.sort()).to.equal(NOT_CONVERTED);
  });
});
