import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPlugins } from '../../core/load.ts';
import { rows } from './rows.ts';

export const lab = Lab.script();
const { describe, it } = lab;

/** What other plugins will bring. A row leaves this list with its first test, and never comes back. */
const WITHOUT_TEST: Record<string, string> = {
  service: 'mcp-hosted, mcp-transport, mcp-oauth, discovery-authenticated, discovery-finds, discovery-unverified, workspace-private, workspace-separate, workspace-choice, flags-anyone, flags-no-judgment, self-hosted',
  resources: 'flag-entity-id, flag-source-id, flag-reason, flag-type, flag-type-stale, flag-type-broken-link, run-id, workspace-items',
  states: 'pending, running, completed, failed, polling',
  endpoints: 'entity-sources-404, entity-flags, source-flags, runs-create, runs-create-body, runs-list, run, mcp',
  auth: 'public-lowest-limit, bearer, keys-in-settings, runs-authenticated, mcp-metadata, mcp-refresh, passkeys',
  errors: '404-actor, place-typo',
  limits: 'plans, renders-per-run, renders-serial, renders-fallback, renders-off, scout-config-show',
};

const testsIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.endsWith('.test.js')).map((name) => join(folder, name));

/** The rows that test files name, read from their text so that a file that fails to run still counts: here by `covers`, in tests of plugins at the end of a name, as `[errors.429]`. */
function namedRows(): Map<string, string> {
  const named = new Map<string, string>();
  const pluginTests = bundledPlugins().flatMap((plugin) => testsIn(join(import.meta.dirname, '../../plugins', plugin, 'test')));
  for (const file of [...testsIn(import.meta.dirname), ...pluginTests]) {
    const text = readFileSync(file, 'utf8');
    for (const [, covered, noted] of text.matchAll(/\bcovers\(\s*(\[[^\]]*\]|'[^']*'|"[^"]*")|\bit\('[^'\n]* \[([a-z0-9., -]+)\]',/g)) {
      for (const [id] of (covered ?? noted)!.matchAll(/[a-z]+\.[a-z0-9-]+/g)) named.set(id, file);
    }
  }
  return named;
}

function sectionOf(id: string): string {
  return id.slice(0, id.indexOf('.'));
}

describe('The interface', () => {
  const named = namedRows();

  it('has no test of a row that does not exist', () => {
    expect([...named].filter(([id]) => !(id in rows))).to.equal([]);
  });

  it('has a test for every row but those that are known to have none', () => {
    const all = Object.keys(rows);
    const open = all.filter((id) => !named.has(id));
    const sections = [...new Set(open.map(sectionOf))].map((section) => [section, open.filter((id) => sectionOf(id) === section).map((id) => id.slice(section.length + 1)).join(', ')]);
    console.log(`\nThe interface: ${all.length - open.length} of ${all.length} rows have a test.`);
    expect(Object.fromEntries(sections)).to.equal(WITHOUT_TEST);
  });
});
