import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { slowness } from 'civic/testing';
import { createFetch } from '../../core/http/fetch.ts';
import { guardLoopback, listen, ORIGIN, stop } from '../../core/http/test/loopback.ts';
import { createBrowser } from '../../plugins/reader/browser/browser.ts';
import { openChromium } from '../../plugins/reader/test/chromium.ts';
import { missingBrowser } from '../support/browser.ts';

export const lab = Lab.script();
const { describe, it } = lab;

/** A page that tries every way out. `ORIGIN` may be reached, by core's fetch only; the trap may not. */
const escapes = (trap: string, datagrams: string, own: string) => `<!DOCTYPE html><div id="app"></div>
<link rel="dns-prefetch" href="http://${trap}"><link rel="preconnect" href="http://${trap}"><link rel="prefetch" href="http://${trap}/prefetch"><link rel="stylesheet" href="http://${trap}/style">
<img src="http://${trap}/image"><script src="http://${trap}/script"></script><iframe src="http://${trap}/frame"></iframe><object data="http://${trap}/object"></object><video src="http://${trap}/video"></video>
<iframe sandbox="allow-scripts" srcdoc="<script>new RTCPeerConnection({ iceServers: [{ urls: 'stun:${datagrams}' }] }).createOffer({ offerToReceiveAudio: true })</script>"></iframe>
<form id="form" method="post" action="http://${trap}/form" target="elsewhere"></form>
<script>
const results = {};
const attempt = (name, work) => { try { Promise.resolve(work()).then(() => { results[name] ??= 'done'; }, (error) => { results[name] = 'failed'; }); } catch (error) { results[name] = 'failed'; } };
const opened = (socket) => new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject; });
attempt('own', () => fetch('/data'));
attempt('fetch', () => fetch('http://${trap}/fetch', { mode: 'no-cors' }));
attempt('localhost', () => fetch('http://localhost:${trap.split(':')[1]}/', { mode: 'no-cors' }));
attempt('redirect', () => fetch('/redirect'));
attempt('private', () => fetch('http://10.0.0.1/', { mode: 'no-cors' }));
attempt('file', () => fetch('file:///etc/passwd'));
attempt('events', () => opened(new EventSource('http://${trap}/events')));
attempt('socket', () => opened(new WebSocket('ws://${trap}/socket')));
attempt('ownSocket', () => opened(new WebSocket('ws://${own}/socket')));
attempt('transport', () => new WebTransport('https://${datagrams}/').ready);
attempt('service', () => navigator.serviceWorker.register('/service.js'));
attempt('peer', async () => { const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:${datagrams}' }] }); peer.createDataChannel('x'); await peer.setLocalDescription(await peer.createOffer()); });
navigator.sendBeacon('http://${trap}/beacon', 'x');
window.open('http://${trap}/window');
form.submit();
new Worker(URL.createObjectURL(new Blob(["fetch('http://${trap}/worker'); new WebSocket('ws://${trap}/worker')"])));
setInterval(() => { app.textContent = JSON.stringify(results); }, 50);
</script>`;

describe('A page in the browser of the reader', { skip: missingBrowser() !== null, timeout: 120_000 * slowness }, () => {
  it('reaches the network through the guard of core and in no other way', async () => {
    const requests: string[] = [];
    const { server, port } = await listen((request, response) => {
      requests.push(`${request.headers['user-agent']} ${request.url}`);
      if (request.url === '/redirect') response.writeHead(302, { location: `http://${trap}/redirected` });
      response.end('x');
    }, ORIGIN);
    server.on('upgrade', (request, socket) => { requests.push(`upgrade ${request.url}`); socket.destroy(); });
    const guard = await guardLoopback();
    const trap = `127.0.0.1:${guard.ports[0]}`;
    const received: Buffer[] = [];
    const udp = createSocket('udp4', (message) => { received.push(message); }).bind(0, '127.0.0.1');
    await once(udp, 'listening');
    const chromium = await openChromium();
    const fetch = createFetch({ allowPrivateAddresses: false, isAllowed: (address) => address === ORIGIN, timeoutSeconds: 10, maxBytes: 100_000, maxRedirects: 3, userAgent: 'Civic' });
    const asked: string[] = [];
    const config = { browser_fallback_enabled: true, browser_path: chromium.path, browser_sandbox: false, browser_seconds: 120, browser_concurrency: 1, longest_wait_seconds: 5, max_bytes: 100_000, timeout_seconds: 10 };
    const hosts = { permit: async (url: URL) => { asked.push(url.pathname); }, note: async () => {} };
    const browser = createBrowser({ config, clock: { now: Date.now }, fetch } as never, hosts as never);
    try {
      const own = `${ORIGIN}:${port}`;
      const { html } = await browser.render({ url: `http://${own}/page`, content_type: 'text/html', body: Buffer.from(escapes(trap, `127.0.0.1:${(udp.address() as AddressInfo).port}`, own)) });
      const results = JSON.parse(/<div id="app">(.*?)<\/div>/.exec(html)![1]!) as Record<string, string>;
      // A service worker and a WebTransport may wait for ever.
      for (const name of ['fetch', 'localhost', 'redirect', 'private', 'file', 'events', 'socket', 'ownSocket', 'peer']) expect(results[name], name).to.equal('failed');
      expect(results).to.include({ own: 'done' });
      expect(results.service).to.not.equal('done');
      expect(results.transport).to.not.equal('done');
      expect(requests.sort()).to.equal(['Civic /data', 'Civic /redirect']);
      expect(asked).to.include(['/data', '/redirect', '/redirected', '/fetch', '/script']);
      expect(asked).to.not.include(['/image']);
      expect(guard.reached()).to.equal(0);
      expect(received).to.equal([]);
      expect(chromium.running()).to.equal([]);
    } finally {
      await browser.stop();
      await fetch.close();
      await chromium.delete();
      udp.close();
      await guard.stop();
      await stop(server);
    }
  });
});
