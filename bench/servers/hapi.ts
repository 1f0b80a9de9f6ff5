import Hapi from '@hapi/hapi';
import Joi from 'joi';
import { payload, reportTo } from '../harness.ts';

const [, , size, route] = process.argv;
const body = payload(size as 'small' | 'list');

const server = Hapi.server({ host: '127.0.0.1', port: 0 });
server.validator(Joi);
server.route(route === 'checked'
  ? { method: 'GET', path: '/api/bench', options: { validate: { query: Joi.object({}) } }, handler: () => body }
  : { method: 'GET', path: '/bench', handler: () => body });
await server.start();
reportTo(server.info.port as number);
