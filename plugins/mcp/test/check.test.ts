import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { FetchError } from 'civic';
import { endpointCheck } from '../check.ts';

export const lab = Lab.script();
const { describe, it } = lab;

type Civic = Parameters<typeof endpointCheck>[0];
type Fetch = Civic['fetch'];

function check(fetch: unknown, address = 'https://civic.example.org', { tools = 1, hasOauth = true } = {}) {
  const assistant = { tools: { size: tools } } as Civic['assistant'];
  return endpointCheck({ fetch: fetch as Fetch, url: (path) => address + path, assistant }, { hasOauth }).run();
}

/** Returns the result of the check for a response of `/mcp`. */
function checkResponse(status: number, challenge?: string) {
  return check(async () => ({ status, headers: challenge ? { 'www-authenticate': challenge } : {} }));
}

describe('The check of doctor', () => {
  it('passes when the challenge of a request without a token names the resource metadata', async () => {
    expect(await checkResponse(401, 'Bearer resource_metadata="https://civic.example.org/.well-known/oauth-protected-resource/mcp"')).to.equal({ status: 'ok', detail: 'https://civic.example.org/mcp requires a token and names the authorization server' });
  });

  it('fails when a proxy removes the challenge, or another server responds', async () => {
    expect(await checkResponse(401, 'Bearer realm="civic"')).to.include({ status: 'failed', detail: 'the response of https://civic.example.org/mcp does not name an authorization server' });
    expect(await checkResponse(401)).to.include({ status: 'failed' });
    expect(await checkResponse(404)).to.include({ status: 'failed', detail: 'https://civic.example.org/mcp responds to a request without a token with 404, not with 401' });
  });

  it('sends no request when the public address is this machine', async () => {
    const fetch = async () => { throw new Error('A request was sent'); };
    expect(await check(fetch, 'http://localhost:8080')).to.equal({ status: 'ok', detail: 'not requested: only assistants on this machine can connect to http://localhost:8080/mcp' });
  });

  it('warns when the address cannot be reached', async () => {
    const fetch = async () => { throw new FetchError('unreachable', 'The host did not respond'); };
    expect(await check(fetch)).to.include({ status: 'warning', fix: 'check the host name in public_url and its DNS record, start the server, and run bin/civic doctor again' });
    const refused = async () => { throw new FetchError('address_refused', 'The address is private'); };
    expect((await check(refused)).fix).to.match(/private network/).and.to.not.include('allow_private_addresses');
  });

  it('warns when assistants cannot sign in, or have nothing to call', async () => {
    expect(await check(null, 'http://localhost:8080', { hasOauth: false })).to.include({ status: 'warning', fix: 'add "oauth:" to "plugins:" in the config file' });
    expect(await check(null, 'http://localhost:8080', { tools: 0 })).to.include({ status: 'warning', detail: 'http://localhost:8080/mcp has no tools' });
  });
});
