import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { FetchError } from 'civic';
import { endpointCheck } from '../check.ts';

export const lab = Lab.script();
const { describe, it } = lab;

type Fetch = Parameters<typeof endpointCheck>[0]['fetch'];

/** Returns the result of the check for a response of `/mcp`. */
function checkResponse(status: number, challenge?: string) {
  const fetch = (async () => ({ status, headers: challenge ? { 'www-authenticate': challenge } : {} })) as unknown as Fetch;
  return endpointCheck({ fetch, url: (path) => `https://civic.example.org${path}` }).run();
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
    const fetch = (async () => { throw new Error('A request was sent'); }) as unknown as Fetch;
    expect(await endpointCheck({ fetch, url: (path) => `http://localhost:8080${path}` }).run()).to.equal({ status: 'ok', detail: 'http://localhost:8080/mcp, for assistants on this machine only' });
  });

  it('warns when the address cannot be reached', async () => {
    const fetch = (async () => { throw new FetchError('unreachable', 'The host did not respond'); }) as unknown as Fetch;
    expect(await endpointCheck({ fetch, url: (path) => `https://civic.example.org${path}` }).run()).to.include({ status: 'warning' });
  });
});
