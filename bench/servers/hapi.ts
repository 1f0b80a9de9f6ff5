import Hapi from '@hapi/hapi';
import { payload, reportTo } from '../harness.ts';

const body = payload(process.argv[2] as 'small' | 'list');

const server = Hapi.server({ host: '127.0.0.1', port: 0 });
server.route({ method: 'GET', path: '/api/bench', handler: () => body });
await server.start();
reportTo(server.info.port as number);
