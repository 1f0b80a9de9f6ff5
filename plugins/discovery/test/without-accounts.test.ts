import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testServer } from 'civic/testing';

export const lab = Lab.script();
const { describe, it } = lab;

describe('discovery without accounts', () => {
  it('has no routes, because runs belong to workspaces', async () => {
    const kit = await testServer({ plugins: ['directory', 'reader', 'discovery'] });
    try {
      expect((await kit.request('GET', '/api/discovery-runs')).status).to.equal(404);
    } finally {
      await kit.close();
    }
  });
});
