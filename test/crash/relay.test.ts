import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../core/test/wait.ts';
import { createEventReader } from '../../plugins/firehose/relay/events.ts';
import { createInstance, testPlugins, type Served } from '../support/civic.ts';
import { serveInProcess, type ServedHere } from '../support/serving.ts';

export const lab = Lab.script();
const { describe, it } = lab;

/** Everything an instance has told, in order, as a reader from the start hears it. */
async function storyOf({ url }: { url: string }): Promise<string[]> {
  const head = await headOf(url);
  const answer = await fetch(`${url}/api/firehose?visibility=public&last_event_id=0`, { headers: { accept: 'text/event-stream' } });
  const read = createEventReader();
  const story: string[] = [];
  if (head === 0) return story;
  for await (const piece of answer.body!) {
    for (const { event, data } of read(piece)) {
      if (event !== 'firehose.signal') continue;
      const { event_id, signal, retracted } = JSON.parse(data);
      story.push(`${signal.id} ${signal.title}${retracted ? ' is gone' : ''}`);
      if (Number(event_id.split('-')[1]) >= head) return story;
    }
  }
  throw new Error('The stream ended early');
}

async function headOf(url: string): Promise<number> {
  const { last_event_id } = await (await fetch(`${url}/api/firehose?visibility=public&limit=1`)).json() as { last_event_id: string };
  return Number(last_event_id.split('-')[1]);
}

/** A fixed address that leads to wherever the instance is now. */
async function frontDoor(): Promise<{ url: string; server: Server; lead(to: string): void }> {
  let to = '';
  const server = createServer((request, response) => { response.writeHead(307, { location: to + request.url }).end(); }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, lead(address) { to = address; } };
}

/** Publishes signals, new versions and retractions until it is stopped; what fails meanwhile does not matter. */
function writer(urlOf: () => string): { stop(): Promise<void> } {
  let isStopped = false;
  const signal = (title: string, id?: string) => ({ id, title, type: 'vote', source_class: 'news', evidence: [{ source_url: 'https://example.org/' }] });
  const post = async (body: object): Promise<string[]> => {
    const answer = await fetch(`${urlOf()}/api/wire`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    return (await answer.json() as { ids: string[] }).ids;
  };
  const running = (async () => {
    for (let i = 0; !isStopped; i++) {
      try {
        const [a, b] = await post({ signals: [signal(`${i} a`), signal(`${i} b`)] });
        await post({ signals: [signal(`${i} a again`, a)], withdraw: [b] });
        await sleep(10);
      } catch {
        await sleep(50);
      }
    }
  })();
  return { async stop() { isStopped = true; await running; } };
}

// On SQLite; the tests of the plugin run on both databases.
describe('A relay whose processes are killed', { timeout: 240_000 }, () => {
  it('sends each signal once and in order', async () => {
    const door = await frontDoor();
    const settings = (firehose: object) => ({
      log: { level: 'warn', access: 'warn' }, http: { fetch: { allow_private_addresses: true } },
      plugins: { firehose: { anonymous: true, ...firehose }, wire: { from: join(testPlugins, 'wire') } },
    });
    const instances = { origin: createInstance(settings({}), { ready: true }), relay: createInstance(settings({ relay: { url: door.url } }), { ready: true }) };
    let origin: Served | ServedHere = await instances.origin.serve();
    door.lead(origin.url);
    let relay: Served | ServedHere = await instances.relay.serve();
    const writing = writer(() => origin.url);
    const relayMore = async (): Promise<void> => {
      const head = await headOf(relay.url);
      await until(async () => await headOf(relay.url) >= head + 20);
    };
    try {
      // A server that is killed needs a process; the one that takes its place does not.
      await relayMore();
      await origin.stop('SIGKILL');
      origin = await serveInProcess(instances.origin.configFile);
      door.lead(origin.url);
      await relayMore();
      await relay.stop('SIGKILL');
      relay = await serveInProcess(instances.relay.configFile);
      await relayMore();
      await writing.stop();
      await until(async () => (await headOf(relay.url)) === (await headOf(origin.url)), 60_000);
      const [there, here] = [await storyOf(origin), await storyOf(relay)];
      expect(there.length).to.be.above(20);
      expect(here).to.equal(there);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${origin.output()}\n${relay.output()}`, { cause: error });
    } finally {
      await writing.stop();
      await relay.stop();
      await origin.stop();
      door.server.close();
      for (const instance of Object.values(instances)) instance.remove();
    }
  });
});
