import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases, testServer, type TestServer } from '../../core/testing.ts';
import { covers } from './rows.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

for (const database of testDatabases()) describe(`The taxonomy, on ${database}`, () => {
  let civic: TestServer;

  before(async () => { civic = await testServer({ plugins: ['directory'], database }); });
  after(() => civic.close());

  it(covers('endpoints.issue-areas', 'the issue areas are listed to everybody'), async () => {
    const { status, body } = await civic.request('GET', '/api/issue-areas');
    expect(status).to.equal(200);
    expect(body.data).to.have.length(51);
    expect(body.data[0]).to.only.include(['slug', 'name', 'description', 'domain', 'entity_count', 'match_score']);
  });

  it(covers('resources.issue-slug', 'every slug is in lower case with underscores, and names its issue area'), async () => {
    const { body } = await civic.request('GET', '/api/issue-areas');
    for (const { slug } of body.data) {
      expect(slug).to.match(/^[a-z0-9]+(_[a-z0-9]+)*$/);
      expect((await civic.request('GET', `/api/issue-areas/${slug}`)).body.slug).to.equal(slug);
    }
    expect((await civic.request('GET', '/api/issue-areas/Public-Transit')).status).to.equal(404);
  });
});
