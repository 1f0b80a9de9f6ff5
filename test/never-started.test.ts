import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInstance } from './support/civic.ts';

export const notQuick = 'it fills the gazetteer';
export const lab = Lab.script();
const { describe, it } = lab;

describe('A database that was never started', { timeout: 120_000 }, () => {
  it('is not created by commands that only remove or rebuild', async () => {
    const instance = createInstance({ plugins: { directory: {} } });
    try {
      for (const words of [['places', 'remove', 'alder-falls,missouri'], ['demo', 'remove'], ['directory', 'rebuild']]) {
        const { code, stdout, stderr } = await instance.civicInProcess(...words);
        expect([code, stdout], words.join(' ')).to.equal([1, '']);
        expect(stderr).to.match(/^There is no database at .*civic\.db yet: /);
        expect(existsSync(join(instance.folder, 'data'))).to.be.false();
      }
    } finally {
      instance.remove();
    }
  });

  it('gets its places from the first command that needs them', async () => {
    const instance = createInstance({ plugins: { directory: {} } });
    try {
      const file = join(instance.folder, 'divisions.csv');
      writeFileSync(file, 'id,name\nocd-division/country:us/state:mo/place:alder_falls,Alder Falls city\nocd-division/country:us/state:mo/place:st_louis,St. Louis city\n');
      const { code, stdout, stderr } = await instance.civicInProcess('places', 'import', file);
      expect([code, stderr]).to.equal([0, stderr]);
      expect(stderr).to.contain('Filling directory places');
      expect(stdout).to.contain('2 rows read: 1 added, 0 updated, 1 unchanged, 0 rejected.');
      const doctored = await instance.civicInProcess('doctor', '--json');
      const findings = JSON.parse(doctored.stdout).findings as { name: string; status: string }[];
      expect(findings.filter(({ name }) => name.startsWith('directory')).map(({ status }) => status)).to.equal(['ok', 'ok', 'ok', 'ok']);
    } finally {
      instance.remove();
    }
  });
});
