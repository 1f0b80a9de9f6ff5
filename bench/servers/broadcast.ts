import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** The least that Node can do: what is posted is written as one chunk, framed once, to every open stream. */
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n9\r\n: ready\n\n\r\n';
const LINE_END = Buffer.from('\r\n');
const streams = new Set<Socket>();

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const { socket } = request;
    socket.write(HEAD);
    streams.add(socket);
    socket.on('close', () => streams.delete(socket));
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const event = Buffer.concat(chunks);
    const frame = Buffer.concat([Buffer.from(`${event.length.toString(16)}\r\n`), event, LINE_END]);
    for (const socket of streams) socket.write(frame);
    response.writeHead(201).end();
  });
});
process.on('disconnect', () => process.exit());
process.on('message', () => {
  globalThis.gc?.();
  process.send!({});
});
server.listen(0, '127.0.0.1', 4096, () => { process.send!({ port: (server.address() as AddressInfo).port }); });
