import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { selfSigned } from './certificate.ts';
import { stop } from './loopback.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Fetches each address in a process of its own, since Node reads trusted certificates only when it starts. */
const SCRIPT = `
  const [module, ...urls] = process.argv.slice(1);
  const { createFetch } = await import(module);
  const resolve = async () => [{ address: '127.0.0.1' }];
  const fetch = createFetch({ allowPrivateAddresses: true, timeoutSeconds: 30, maxBytes: 1000, maxRedirects: 5, userAgent: 'test', resolve });
  const answers = [];
  for (const url of urls) answers.push(await fetch(url, { headers: { authorization: 'x' } }).then((answer) => answer.text(), (error) => error.code + ': ' + error.message));
  await fetch.close();
  console.log(JSON.stringify(answers));`;

describe('fetch over https', { timeout: 60_000 }, () => {
  let server: Server;
  let port: number;
  let folder: string;
  const askedFor: unknown[] = [];

  before(async () => {
    const certificate = selfSigned('civic.test');
    folder = await mkdtemp(join(tmpdir(), 'civic-fetch-'));
    await writeFile(join(folder, 'ca.pem'), certificate.cert);
    server = createServer(certificate, (request, response) => {
      if (request.url === '/down') return response.writeHead(302, { location: `http://civic.test:${port}/` }).end();
      return response.end('over https');
    });
    server.on('secureConnection', (socket) => askedFor.push(socket.servername));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });

  after(async () => {
    await stop(server);
    await rm(folder, { recursive: true });
  });

  async function answers(urls: string[], environment: NodeJS.ProcessEnv): Promise<string[]> {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', SCRIPT, join(import.meta.dirname, '../fetch.js'), ...urls], { env: { ...process.env, ...environment } });
    return JSON.parse(stdout) as string[];
  }

  it('checks the certificate against the name, though it connects to an address', async () => {
    const urls = ['civic.test', 'civic.test.', 'other.test', '127.0.0.1'].map((host) => `https://${host}:${port}/`);
    const [good, dotted, other, literal] = await answers(urls, { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') });
    expect([good, dotted]).to.equal(['over https', 'over https']);
    expect(other).to.match(/^unreachable: other\.test cannot be reached: Hostname\/IP does not match/);
    expect(literal).to.match(/^unreachable: 127\.0\.0\.1 cannot be reached: Hostname\/IP does not match/);
    expect(askedFor.slice(0, 2)).to.equal(['civic.test', 'civic.test']);
  });

  it('does not take credentials from https to http', async () => {
    const [answer] = await answers([`https://civic.test:${port}/down`], { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') });
    expect(answer).to.match(/^bad_response: .* redirects from https to http/);
  });

  it('does not trust a self-signed certificate', async () => {
    const [answer] = await answers([`https://civic.test:${port}/`], {});
    // Newer versions of Node add advice.
    expect(answer).to.match(/^unreachable: civic\.test cannot be reached: self-signed certificate[.;]/);
  });
});
