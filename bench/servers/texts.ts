import Hapi from '@hapi/hapi';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reportTo } from '../harness.ts';

/** Answers each path with a text that was made before: by one plain hapi route, or with nothing but Node. */
const [, , kind, file] = process.argv;
const texts = new Map(Object.entries(JSON.parse(readFileSync(file!, 'utf8')) as Record<string, string>));
const TYPE = 'application/json; charset=utf-8';

if (kind === 'hapi') {
  const server = Hapi.server({ host: '127.0.0.1', port: 0 });
  for (const [path, text] of texts) server.route({ method: 'GET', path, handler: (_request, h) => h.response(text).type(TYPE) });
  await server.start();
  reportTo(server.info.port as number);
} else {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': TYPE });
    response.end(texts.get(request.url!));
  });
  server.listen(0, '127.0.0.1', () => { reportTo((server.address() as AddressInfo).port); });
}
