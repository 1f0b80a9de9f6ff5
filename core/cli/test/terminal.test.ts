import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { createTerminal } from '../terminal.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('A terminal', () => {
  it('shows colours to whoever asked, also from a process that has no terminal itself', () => {
    const outlet = { out: () => undefined, err: () => undefined, isTerminal: true };
    const style = (color: boolean) => createTerminal({ ...outlet, color }, { json: false, signal: new AbortController().signal }).style('red', 'stop');
    expect(style(true)).to.equal('\u001b[31mstop\u001b[0m');
    expect(style(false)).to.equal('stop');
  });
});
