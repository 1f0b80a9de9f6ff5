import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { FetchError } from 'civic';
import { endpointCheck } from '../check.ts';

export const lab = Lab.script();
const { describe, it } = lab;

type Fetch = Parameters<typeof endpointCheck>[0]['fetch'];

/** The result of the check when `/mcp` responds like this. */
function checked(status: number, challenge?: string) {
  const fetch = (async () => ({ status, headers: challenge ? { 'www-authenticate': challenge } : {} })) as unknown as Fetch;
  return endpointCheck({ fetch, url: (path) => `https://civic.example.org${path}` }).run();
}

describe('The check of doctor', () => {
  it('passes when a request without a token learns where to sign in', async () => {
    expect(await checked(401, 'Bearer resource_metadata="https://civic.example.org/.well-known/oauth-protected-resource/mcp"')).to.equal({ status: 'ok', detail: 'https://civic.example.org/mcp asks for a token' });
  });

  it('fails when the challenge is lost on the way, or something else responds', async () => {
    expect(await checked(401, 'Bearer realm="civic"')).to.include({ status: 'failed', detail: 'the response of https://civic.example.org/mcp does not say where to sign in' });
    expect(await checked(401)).to.include({ status: 'failed' });
    expect(await checked(404)).to.include({ status: 'failed', detail: 'https://civic.example.org/mcp responds to a request without a token with 404, not with 401' });
  });

  it('asks nothing of an instance that is there for this machine only', async () => {
    const fetch = (async () => { throw new Error('It was fetched'); }) as unknown as Fetch;
    expect(await endpointCheck({ fetch, url: (path) => `http://localhost:8080${path}` }).run()).to.equal({ status: 'ok', detail: 'http://localhost:8080/mcp, for assistants on this machine only' });
  });

  it('warns when nothing responds', async () => {
    const fetch = (async () => { throw new FetchError('unreachable', 'The host did not respond'); }) as unknown as Fetch;
    expect(await endpointCheck({ fetch, url: (path) => `https://civic.example.org${path}` }).run()).to.include({ status: 'warning' });
  });
});
