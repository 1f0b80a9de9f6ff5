import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { rows } from './rows.ts';

export const lab = Lab.script();
const { describe, it } = lab;

/** The rows each test file names, read from its text so that a file that fails to run still counts. */
function namedRows(): Map<string, string> {
  const named = new Map<string, string>();
  for (const file of readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.js'))) {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8');
    for (const [, ids] of text.matchAll(/\bcovers\(\s*(\[[^\]]*\]|'[^']*'|"[^"]*")/g)) {
      for (const [, id] of ids!.matchAll(/['"]([^'"]+)['"]/g)) named.set(id!, file);
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

  it('lists the rows that no test proves yet', () => {
    const all = Object.keys(rows);
    const open = all.filter((id) => !named.has(id));
    const sections = [...new Set(open.map(sectionOf))].map((section) => `  ${section}: ${open.filter((id) => sectionOf(id) === section).map((id) => id.slice(section.length + 1)).join(', ')}`);
    console.log([`\nThe interface: ${all.length - open.length} of ${all.length} rows have a test. Without one:`, ...sections].join('\n'));
    expect(open.length).to.be.below(all.length);
  });
});
