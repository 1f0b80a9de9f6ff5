import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock } from 'civic/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSocket, readersKit, soon } from './readers.ts';

export const notQuick = 'it reaches limits with large data';
export const lab = Lab.script();
const { describe, it } = lab;

describe('Session sockets of slow clients', { timeout: 60_000 }, () => {
  it('are closed with 1013 and the id to go on with, when a client reads nothing for half a minute', async () => {
    const clock = stoppedClock();
    const kit = await readersKit({ clock });
    const ada = await kit.person();
    const { id } = await kit.session(ada);
    const socket = await openSocket(kit, id, { headers: { 'x-api-key': ada.key } });
    await socket.has(1, 'firehose.ready');
    socket.client.pause();
    const long = { evidence: [{ source_url: 'https://example.org', passage: 'x'.repeat(50_000) }] };
    for (let i = 0; i < 24; i++) await kit.publish(...Array.from({ length: 18 }, () => long));
    await sleep(1500);
    clock.advance(31_000);
    await sleep(1500);
    socket.client.resume();
    const { code, reason } = await soon(socket.ended);
    expect(code).to.equal(1013);
    const told = JSON.parse(reason);
    const last = socket.messages.at(-1);
    expect(told).to.equal({ error: 'consumer_too_slow', resume: last.event_id });
    const again = await openSocket(kit, id, { headers: { 'x-api-key': ada.key }, query: `?last_event_id=${told.resume}` });
    const received = socket.messages.length - 1 + (await again.has(24 * 18 - (socket.messages.length - 1))).length;
    expect(received).to.equal(24 * 18);
    again.close();
    await kit.close();
  });
});
