import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractFiles } from '../../core/cli/contracts.ts';
import { projectRoot } from '../../core/root.ts';
import { testServer, type TestServer } from '../../core/testing.ts';
import { probe } from './probe.ts';
import { covers } from './rows.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('Versioning', () => {
  let civic: TestServer;
  let openApi: any;

  before(async () => {
    civic = await testServer({ plugins: [probe] });
    openApi = (await civic.request('GET', '/openapi.json')).body;
  });
  after(() => civic.close());

  it(covers('versioning.rest-unversioned', 'no path carries a version'), () => {
    const paths = Object.keys(openApi.paths);
    expect(paths).to.include('/api/probe');
    expect(paths.filter((path) => /\/v\d/.test(path))).to.equal([]);
  });

  it(covers('versioning.openapi', 'the OpenAPI document describes routes, bodies, statuses and headers'), () => {
    const { post } = openApi.paths['/api/probe'];
    expect(openApi.openapi).to.match(/^3\.1\./);
    expect(post.requestBody.content['application/json'].schema.required).to.equal(['reason']);
    expect(post.responses).to.include(['201', '400', '401', '413', '415', '500', '503']);
    expect(post.responses['201'].headers).to.include(['X-Request-ID', 'Location']);
  });

  it(covers('versioning.asyncapi', 'the AsyncAPI document is there'), async () => {
    const { status, body } = await civic.request('GET', '/asyncapi.json');
    expect(status).to.equal(200);
    expect(body.asyncapi).to.equal('3.0.0');
    expect(body).to.include(['channels', 'operations']);
  });

  it(covers('versioning.asyncapi-generated', 'the stored contracts are those the code makes'), async () => {
    for (const [name, text] of await contractFiles()) {
      const path = join(projectRoot, name);
      const stored = existsSync(path) ? readFileSync(path, 'utf8') : '';
      expect(stored === text, `${name} differs from the code: run bin/civic contracts write and look at the change`).to.be.true();
    }
  });
});
