import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { createInstance } from '../support/civic.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('A first administrator', { timeout: 240_000 }, () => {
  it('gets a key by command line beside the running server, enters an actor, and revokes the key', async () => {
    const instance = createInstance({ plugins: { directory: {}, accounts: {} } }, { ready: true });
    const served = await instance.serve();
    const json = async (...args: string[]) => {
      const { code, stdout, stderr } = await instance.civicInProcess(...args, '--json');
      expect(code, stderr).to.equal(0);
      return JSON.parse(stdout);
    };
    try {
      const account = await json('account', 'create', '--email', 'ada@example.org', '--name', 'Ada');
      expect(account).to.include({ role: 'admin', plan: 'team' });
      const { id, key } = await json('key', 'create', '--account', 'ada@example.org', '--name', 'first');
      const send = (method: string, path: string, body?: object) => fetch(served.url + path, { method, headers: { 'x-api-key': key, 'content-type': 'application/json' }, body: body && JSON.stringify(body) });

      const made = await send('POST', '/api/entities', {
        type: 'organization', visibility: 'public', sources: [{ local_id: 's', url: 'https://example.org/about' }], claims: [{ property: 'name', value: 'Riverside Tenants Union', source_local_id: 's' }],
      });
      expect(made.status).to.equal(201);
      expect((await fetch(`${served.url}/api/entities/${((await made.json()) as { id: string }).id}`)).status).to.equal(200);

      await json('key', 'revoke', id);
      expect((await send('GET', '/api/workspaces')).status).to.equal(401);

      await json('account', 'create', '--email', 'grace@example.org');
      expect((await json('key', 'create', '--account', 'grace@example.org')).key).to.match(/^civic_/);

      await json('account', 'create', '--name', 'Free', '--email', 'free@example.org', '--plan', 'free');
      const refused = await instance.civicInProcess('key', 'create', '--account', 'free@example.org', '--json');
      expect([refused.code, refused.stdout]).to.equal([1, '']);
      expect(refused.stderr).to.include('individual, research_pass, team');
      expect((await instance.civicInProcess('key', 'create', '--account', 'free@example.org', '--scopes', 'everything')).code).to.equal(2);
      expect((await instance.civicInProcess('account', 'create', '--email', 'nonsense')).code).to.equal(2);
      expect((await instance.civicInProcess('doctor')).stdout).to.match(/audit.*rows, and the hash chain is intact/);
    } finally {
      await served.stop();
      instance.remove();
    }
  });
});
