import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { slowness, testDatabases, testServer, type TestServer } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import directory from '../index.ts';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KC = 'kansas-city,missouri';
const CHANGES = 10;
/** Half of the changes at least, however busy the machine is: by looking once a second alone it would be some 500 ms. What it is for all of them, bench tells. */
const USUAL_MS = 250;
const MOST_MS = 2000 * slowness;

if (testDatabases().includes('postgres')) {
  describe('Two nodes of the directory on one Postgres', { timeout: 120_000 }, () => {
    let writing: DirectoryKit;
    let reading: TestServer;

    before(async () => {
      writing = await directoryKit({ database: 'postgres' });
      const url = writing.composition.config.database.url!;
      reading = await testServer({ plugins: [directory], config: { database: { url } } });
    });
    after(async () => {
      await reading.close();
      await writing.close();
    });

    it('show a change at once on the node that made it, and soon on the other: list, detail, coverage, facets and issue areas', async () => {
      const id = (await writing.send('POST', '/api/entities', actorPayload({ name: 'Names change', place: KC, issue_area: 'housing_affordability' }), 'reviewer')).body.id as string;
      const reads = {
        [`/api/places/${KC}/entities`]: (body: any) => body.total,
        [`/api/places/${KC}/coverage`]: (body: any) => body.entity_count,
        '/api/entities?facets=true': (body: any) => body.facets.entity_type.find(({ value }: { value: string }) => value === 'organization')?.count,
        '/api/issue-areas': (body: any) => body.data.find(({ slug }: { slug: string }) => slug === 'housing_affordability').entity_count,
      };
      const seen = async (node: TestServer, path: string) => (await node.request('GET', path)).body;
      const late: number[] = [];
      for (let count = 2; count <= CHANGES; count++) {
        await writing.send('POST', '/api/entities', actorPayload({ name: `Actor ${count}`, place: KC, issue_area: 'housing_affordability' }), 'reviewer');
        for (const [path, number] of Object.entries(reads)) expect(number(await seen(writing, path)), path).to.equal(count);
        const since = performance.now();
        for (const [path, number] of Object.entries(reads)) {
          while (number(await seen(reading, path)) !== count) {
            if (performance.now() - since > MOST_MS) throw new Error(`${path} does not tell of the change after ${MOST_MS} ms`);
            await sleep(5);
          }
        }
        late.push(performance.now() - since);
      }
      late.sort((a, b) => a - b);
      expect(late[Math.floor(late.length / 2)]!, JSON.stringify(late)).to.be.at.most(USUAL_MS);
      const etag = (await writing.get(`/api/entities/${id}`)).headers.etag as string;
      await seen(reading, `/api/entities/${id}`);
      const { status, text } = await writing.send('PATCH', `/api/entities/${id}`, { sources: [{ local_id: 's', url: 'https://example.org/new' }], add: [{ property: 'description', value: 'New words', source_local_id: 's' }] }, 'reviewer', { 'if-match': etag });
      expect(status, text).to.equal(200);
      expect((await seen(writing, `/api/entities/${id}`)).description).to.equal('New words');
      for (const since = performance.now(); (await seen(reading, `/api/entities/${id}`)).description !== 'New words';) {
        if (performance.now() - since > MOST_MS) throw new Error('The other node does not tell the new description');
        await sleep(5);
      }
    });
  });
} else {
  describe('Nodes of the directory', () => {
    it('share one Postgres', { skip: true }, () => undefined);
  });
}
