import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPlugins } from '../../core/load.ts';
import type { Plugin } from '../../core/plugin.ts';
import { projectRoot } from '../../core/root.ts';
import { testServer, type TestServer } from '../../core/testing.ts';
import { CATEGORIES } from '../../core/vocabulary.ts';

export const lab = Lab.script();
const { describe, it, before } = lab;

/** Names that a plugin with the owner in its `needs` or `uses` may write. */
const OPEN_TO_USERS = ['plugin', 'event', 'slot', 'route', 'scope'];
const COMMENT = /^\s*(?:\/\/|\/\*\*|\*|<!--).*$/gm;
/** Places in a body, such as `/sources`, which are no paths. */
const POINTER = /\bpointer: '[^']*'/g;

interface Name {
  kind: string;
  text: string;
  owner: string;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'test' ? [] : sources(path);
    return /\.(?:ts|js|html)$/.test(entry.name) ? [path] : [];
  });
}

function declaredNames({ server, plugins }: TestServer['composition']): Name[] {
  const declared = plugins.flatMap((plugin) => [
    { kind: 'plugin', text: plugin.name, owner: plugin.name },
    ...CATEGORIES.flatMap((category) => Object.keys(plugin[category] ?? {}).map((text) => ({ kind: category.replace(/ies$/, 'y').replace(/s$/, ''), text, owner: plugin.name }))),
    ...Object.keys(plugin.events ?? {}).map((text) => ({ kind: 'event', text, owner: plugin.name })),
  ]);
  const firstParts = server.table().filter(({ realm, path }) => realm.plugin && path.startsWith('/api/')).map(({ realm, path }) => ({ kind: 'route', text: path.split('/').slice(0, 3).join('/'), owner: realm.plugin as string }));
  // The table begins with the shortest path, whose plugin owns the paths below it; others add single routes there.
  return [...declared, ...new Map(firstParts.toReversed().map((name) => [name.text, name])).values()];
}

/** How a name is written in code. A limit or capability of one plain word, such as `keys`, cannot be told from the word, nor the path of the home page from a separator. */
function patternOf({ kind, text }: Name): RegExp | null {
  if (kind === 'path' && text === '/') return null;
  if ((kind === 'limit' || kind === 'capability') && /^[a-z]+$/.test(text)) return null;
  const exact = text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  if (kind === 'scope') return new RegExp(`\\b${exact}\\b`);
  if (kind === 'route') return new RegExp(`['"\`}]${exact}(?:[/?'"\`])`);
  return new RegExp(`['"\`]${exact}['"\`]${text.includes('_') ? `|\\b${exact}\\??:` : ''}`);
}

/** A kind of editor in the history of actors, which is a word of the directory and not the name of the plugin. */
const EDITOR_KIND = { text: 'discovery', plugins: ['directory', 'firehose'] };

function mayUse(plugin: Plugin | undefined, { kind, text, owner }: Name): boolean {
  if (kind === 'plugin' && text === EDITOR_KIND.text && EDITOR_KIND.plugins.includes(plugin?.name ?? '')) return true;
  // A rate class or path that has the name of its plugin cannot be distinguished from that name.
  return (OPEN_TO_USERS.includes(kind) || text === owner) && [...plugin?.needs ?? [], ...plugin?.uses ?? []].includes(owner);
}

describe('The names of a plugin', () => {
  let names: Name[];
  let plugins: Plugin[];
  before(async () => {
    const { composition } = await testServer({ plugins: bundledPlugins(), callers: false, open: false });
    names = declaredNames(composition);
    plugins = composition.plugins;
  });

  function foreignNames(folders: string[], own: string): string[] {
    const plugin = plugins.find(({ name }) => name === own);
    const foreign = names.filter((name) => name.owner !== own && !mayUse(plugin, name));
    return folders.flatMap((folder) => sources(join(projectRoot, folder))).flatMap((file) => {
      const text = readFileSync(file, 'utf8').replaceAll(COMMENT, '').replaceAll(POINTER, '');
      return foreign.filter((name) => patternOf(name)?.test(text)).map(({ kind, text: name, owner }) => `${file.slice(projectRoot.length + 1)} names the ${kind} ${name} of ${owner}`);
    });
  }

  it('are known: every kind is declared by some plugin', () => {
    expect([...new Set(names.map(({ kind }) => kind))].sort()).to.equal(['capability', 'event', 'limit', 'path', 'plugin', 'rate', 'route', 'scope', 'slot']);
  });

  it('are not written in core, its templates or its commands', () => {
    expect(foreignNames(['core', 'templates', 'bin'], 'core')).to.equal([]);
  });

  for (const plugin of bundledPlugins()) {
    it(`are not written in ${plugin} when they belong to another one`, () => {
      expect(foreignNames([`plugins/${plugin}`], plugin)).to.equal([]);
    });
  }
});
