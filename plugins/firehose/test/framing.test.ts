import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { firehoseKit, type FirehoseKit } from './kit.ts';
import { sseParser } from './sse.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** A response as it travels. */
interface Raw {
  socket: Socket;
  /** Resolves with everything that was received, when it matches. */
  until(pattern: RegExp): Promise<string>;
  ended: Promise<string>;
}

/** Parses a chunked body strictly; `isComplete` when the last chunk and nothing after it was received. */
function chunksOf(body: Buffer): { chunks: Buffer[]; isComplete: boolean } {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const [line, size] = /^([0-9a-f]+)\r\n/i.exec(body.subarray(at, at + 20).toString('latin1')) ?? [];
    if (line === undefined) throw new Error(`No chunk begins at ${at}: ${body.subarray(at, at + 60).toString()}`);
    const start = at + line.length;
    const end = start + parseInt(size!, 16);
    expect(body.subarray(end, end + 2).toString()).to.equal('\r\n');
    at = end + 2;
    if (end === start) return { chunks, isComplete: at === body.length };
    chunks.push(body.subarray(start, end));
  }
  return { chunks, isComplete: false };
}

describe('The framing of the stream', { timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  before(async () => { kit = await firehoseKit({ firehose: { anonymous: true } }); });
  after(() => kit.close());

  function open(version: string, query: string): Raw {
    const socket = connect(Number(new URL(kit.url).port), '127.0.0.1');
    let text = '';
    let notice = (): void => undefined;
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
      notice();
    });
    socket.write(`GET /api/firehose?visibility=public&${query} HTTP/${version}\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`);
    return {
      socket,
      async until(pattern) {
        while (!pattern.test(text)) await new Promise<void>((resolve) => { notice = resolve; });
        return text;
      },
      ended: once(socket, 'close').then(() => text),
    };
  }

  const headOf = (text: string) => text.slice(0, text.indexOf('\r\n\r\n') + 4);
  const bodyOf = (text: string) => Buffer.from(text.slice(headOf(text).length), 'latin1');
  const minuteAhead = () => new Date(kit.clock.now() + 60_000).toISOString();

  it('is one chunk for each flush on HTTP/1.1, so that clients that read by chunks are not late', async () => {
    const place = 'chunked,testland';
    const stream = open('1.1', `place=${place}`);
    expect(headOf(await stream.until(/firehose\.ready[^]*\n\n/))).to.match(/^HTTP\/1\.1 200 [^]*\r\ntransfer-encoding: chunked\r\n/i).and.not.match(/content-length/i);
    await kit.publish({ title: 'one', places: [place] }, { title: 'Čapek’s 🏛 two', places: [place] });
    await stream.until(/two[^]*\n\n\r\n/);
    await kit.publish({ title: 'three', places: [place] });
    const { chunks, isComplete } = chunksOf(bodyOf(await stream.until(/three[^]*\n\n\r\n/)));
    const titles = chunks.map((chunk) => sseParser()(chunk.toString()).map(({ event, data }) => data.signal?.title ?? event));
    expect(titles).to.equal([['firehose.ready'], ['one', 'Čapek’s 🏛 two'], ['three']]);
    expect(isComplete).to.be.false();
    stream.socket.destroy();
  });

  it('replays in chunks and ends with the last chunk on HTTP/1.1', async () => {
    const place = 'replayed,testland';
    await kit.publish({ title: 'stored', places: [place] });
    const stream = open('1.1', `place=${place}&last_event_id=0&until=${minuteAhead()}`);
    await stream.until(/stored[^]*\n\n/);
    kit.clock.advance(16_000);
    await stream.until(/event: heartbeat[^]*\n\n/);
    kit.clock.advance(60_000);
    const { chunks, isComplete } = chunksOf(bodyOf(await stream.ended));
    expect(isComplete).to.be.true();
    expect(chunks.map((chunk) => sseParser()(chunk.toString()).map(({ event }) => event))).to.equal([['firehose.ready'], ['firehose.signal'], ['heartbeat'], ['heartbeat']]);
  });

  it('is the bare events until the connection closes on HTTP/1.0', async () => {
    const place = 'unchunked,testland';
    const stream = open('1.0', `place=${place}&until=${minuteAhead()}`);
    await stream.until(/firehose\.ready[^]*\n\n/);
    await kit.publish({ title: 'one', places: [place] });
    await stream.until(/one[^]*\n\n/);
    kit.clock.advance(60_001);
    const text = await stream.ended;
    expect(headOf(text)).to.match(/\r\nconnection: close\r\n/i).and.not.match(/transfer-encoding|content-length/i);
    expect(bodyOf(text).toString()).to.startWith('retry: ').and.endWith('\n\n');
    expect(sseParser()(bodyOf(text).toString()).map(({ event }) => event)).to.equal(['firehose.ready', 'firehose.signal', 'heartbeat']);
  });
});
