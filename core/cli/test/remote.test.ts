import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure, type Command } from '../command.ts';
import { openControlSocket, runInServer, type ControlSocket } from '../remote.ts';
import type { Outlet } from '../terminal.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('A command that runs in the server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'civic-remote-'));
  const ask = { name: 'wait', positionals: [], options: {}, cwd: folder, isTerminal: false, color: false };
  let socket: ControlSocket;
  before(async () => {
    const wait: Command = {
      name: 'wait', summary: 'Waits until it is stopped', needs: 'nothing',
      async run({ terminal }) {
        terminal.out('waiting');
        await once(terminal.signal, 'abort');
        throw new Failure('Stopped. What was imported stays.');
      },
    };
    socket = await openControlSocket(folder, () => [wait]);
  });
  after(async () => {
    await socket.close();
    rmSync(folder, { recursive: true });
  });

  function run(onOut: () => void, signal: AbortSignal): { words: string[]; exit: Promise<number | null> } {
    const words: string[] = [];
    const outlet: Outlet = { out: onOut, err: (text) => { words.push(text); }, isTerminal: false, color: false };
    return { words, exit: runInServer(folder, ask, outlet, signal) };
  }

  it('is stopped there by Ctrl-C here, and reports its own end', async () => {
    const interrupted = new AbortController();
    const { words, exit } = run(() => { interrupted.abort(); }, interrupted.signal);
    expect(await exit).to.equal(1);
    expect(words).to.equal(['Stopped. What was imported stays.\n']);
  });

  it('reports that the server stopped when it did', async () => {
    const { words, exit } = run(() => { void socket.close(); }, new AbortController().signal);
    expect(await exit).to.equal(1);
    expect(words.join('')).to.startWith('The server stopped before the command was done.');
  });
});
