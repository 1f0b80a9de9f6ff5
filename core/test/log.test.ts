import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { createLogger } from '../log.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('The logger', () => {
  it('holds on to nothing more however often it is made', async () => {
    const listeners = () => process.listenerCount('uncaughtExceptionMonitor') + process.listenerCount('exit') + process.listenerCount('beforeExit');
    await createLogger({ level: 'silent', access: 'warn', format: 'json' });
    const before = listeners();
    for (let time = 0; time < 20; time++) await createLogger({ level: 'silent', access: 'warn', format: 'json' });
    expect(listeners()).to.equal(before);
  });
});
