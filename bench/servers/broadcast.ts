import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** The least that Node can do: what is posted is written as it is to every open stream. */
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n: ready\n\n';
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
    const frame = Buffer.concat(chunks);
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
