import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { databaseProblem } from '../../database/errors.ts';
import { failureText } from '../failure.ts';
import { createTerminal } from '../terminal.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('A terminal', () => {
  it('shows colours on the terminal of the client, also from a process without a terminal', () => {
    const outlet = { out: () => undefined, err: () => undefined, isTerminal: true };
    const style = (color: boolean) => createTerminal({ ...outlet, color }, { json: false, signal: new AbortController().signal }).style('red', 'stop');
    expect(style(true)).to.equal('\u001b[31mstop\u001b[0m');
    expect(style(false)).to.equal('stop');
  });

  it('shows why the database rejects a change, where the reason is known', () => {
    const terminal = createTerminal({ out: () => undefined, err: () => undefined, isTerminal: false, color: false }, { json: false, signal: new AbortController().signal });
    expect(failureText(databaseProblem('storage_failed', new Error('civic.db was deleted')), terminal)).to.startWith('The disk cannot be written or read (civic.db was deleted). The change');
    expect(failureText(databaseProblem('database_unavailable'), terminal)).to.startWith('The database does not answer. The change');
  });
});
