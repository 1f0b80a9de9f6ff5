import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInstance, type Ended, type Instance } from '../support/civic.ts';
import { serveInProcess } from '../support/serving.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const config = { plugins: { directory: {} } };

/** An actor as a spreadsheet would bring it, in schema.org's words. */
const organization = (name: string, number: number) => ({
  '@context': 'https://schema.org', '@type': 'Organization', '@id': `https://example.org/${number}#org`, name, url: `https://example.org/${number}`, telephone: '+1 816 555 0142',
  address: { '@type': 'PostalAddress', addressLocality: 'Kansas City', addressRegion: 'MO' },
});

function done(ended: Ended): Ended {
  expect(ended.code, ended.stdout + ended.stderr).to.equal(0);
  return ended;
}

describe('A directory from an empty folder to a second home', { timeout: 300_000 }, () => {
  let first: Instance;
  let second: Instance;
  before(() => {
    first = createInstance(config);
    second = createInstance(config);
  });
  after(() => {
    first.remove();
    second.remove();
  });

  it('is filled, looked after, backed up, restored and exported, and says the same at its end', async () => {
    const file = join(first.folder, 'orgs.json');
    writeFileSync(file, JSON.stringify(['Westside Tenants Union', 'Mill Creek Food Pantry', 'Friends of the Library'].map(organization)));
    done(await first.civicInProcess('migrate'));
    const imported = done(await first.civicInProcess('import', 'schemaorg', file, '--json'));
    expect(JSON.parse(imported.stdout).counts).to.include({ created: 3, rejected: 0 });
    expect(done(await first.civicInProcess('doctor')).stdout).to.contain(['3 actors', 'places', '51 issue areas']);
    const told = done(await first.civicInProcess('export')).stdout;
    expect(told).to.contain(['Westside Tenants Union', 'kansas-city,missouri', 'https://example.org/0']);

    const backup = done(await first.civicInProcess('backup', '--json'));
    const folder = JSON.parse(backup.stdout).folder ?? JSON.parse(backup.stdout).path;
    done(await second.civicInProcess('restore', folder));
    const served = await serveInProcess(second.configFile);
    try {
      const found = await (await fetch(`${served.url}/api/places/kansas-city-mo/entities?query=tenants`)).json() as { total: number };
      expect(found.total).to.equal(1);
      expect(done(await second.civicInProcess('export')).stdout).to.equal(told);
    } finally {
      await served.stop();
    }
    expect(done(await second.civicInProcess('doctor')).stdout).to.contain('3 actors');
  });
});
