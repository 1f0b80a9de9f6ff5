import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { PassThrough } from 'node:stream';
import { accessLog } from '../http/access.ts';
import { testServer } from '../http/test/fixture.ts';
import { createCommandLogger, createLogger } from '../log.ts';

export const lab = Lab.script();
const { describe, it } = lab;

function collected(): { output: PassThrough; text: () => string } {
  const output = new PassThrough();
  let text = '';
  output.setEncoding('utf8').on('data', (chunk) => { text += chunk; });
  return { output, text: () => text };
}

describe('The logger', () => {
  it('writes one line a request for people: time, method, path, status and milliseconds', async () => {
    const { output, text } = collected();
    const log = await createLogger({ level: 'info', access: 'info', format: 'pretty' }, output);
    const { server } = testServer();
    server.route({ method: 'GET', path: '/api/x', handler: () => 'x' });
    server.events.on('response', accessLog(log, 'info'));
    await server.inject('/api/x?a=1');
    await server.inject({ method: 'POST', url: '/nowhere' });
    const lines = text().trim().split('\n');
    expect(lines).to.have.length(2);
    expect(lines[0]).to.match(/^\[\d\d:\d\d:\d\d\] INFO: GET \/api\/x\?a=1 200 \d+ ms$/);
    expect(lines[1]).to.match(/^\[\d\d:\d\d:\d\d\] INFO: POST \/nowhere 404 \d+ ms$/);
  });

  it('names the request of a failure', async () => {
    const { output, text } = collected();
    const log = await createLogger({ level: 'info', access: 'info', format: 'pretty' }, output);
    log.child({ plugin: 'notes' }).warn({ rows: 3 }, 'slow');
    log.error({ err: new Error('broken'), request_id: 'r-1', method: 'GET', path: '/api/x' }, 'request failed');
    expect(text()).to.contain(['WARN: notes: slow {"rows":3}', 'ERROR: request failed: GET /api/x (request r-1)', 'Error: broken']);
  });

  it('of a command writes plain sentences, wherever its output goes', async () => {
    const { output, text } = collected();
    const log = createCommandLogger(output);
    log.info('not shown');
    log.child({ plugin: 'notes' }).warn({ rows: 3 }, 'This takes long');
    log.error({ err: new Error('broken') }, 'It failed');
    expect(text()).to.equal('This takes long\nIt failed: broken\n');
  });

  it('holds on to nothing more however often it is made', async () => {
    const listeners = () => process.listenerCount('uncaughtExceptionMonitor') + process.listenerCount('exit') + process.listenerCount('beforeExit');
    await createLogger({ level: 'silent', access: 'warn', format: 'json' });
    const before = listeners();
    for (let time = 0; time < 20; time++) await createLogger({ level: 'silent', access: 'warn', format: 'json' });
    expect(listeners()).to.equal(before);
  });
});
