import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import pino from 'pino';
import { lazily, loadLazyModules } from '../lazy.ts';

export const lab = Lab.script();
export const ownProcess = 'it registers a module that fails, for the life of the process';
const { describe, it } = lab;

describe('Modules that a start does not wait for', () => {
  it('are all loaded afterwards, also behind one that fails', async () => {
    const loaded: string[] = [];
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => { lines.push(line); } });
    const first = lazily(async () => { loaded.push('first'); return 1; });
    lazily(async () => { throw new Error('no descriptor left'); });
    lazily(async () => { loaded.push('last'); });
    expect(loaded).to.equal([]);
    await loadLazyModules(log);
    expect(loaded).to.equal(['first', 'last']);
    expect(lines.join('')).to.contain('no descriptor left');
    expect(await first()).to.equal(1);
  });
});
