import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { payload, reportTo } from '../harness.ts';

const body = payload(process.argv[2] as 'small' | 'list');

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
});
server.listen(0, '127.0.0.1', () => { reportTo((server.address() as AddressInfo).port); });
