import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../root.ts';
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
    const load: Command = {
      name: 'load', summary: 'Loads a module of another build', needs: 'nothing',
      async run() { await import(pathToFileURL(join(projectRoot, 'dist/bundle/replaced.js')).href); },
    };
    socket = await openControlSocket(folder, () => [wait, load]);
  });
  after(async () => {
    await socket.close();
    rmSync(folder, { recursive: true });
  });

  function run(onOut: () => void, signal: AbortSignal, name = 'wait'): { words: string[]; exit: Promise<number | null> } {
    const words: string[] = [];
    const outlet: Outlet = { out: onOut, err: (text) => { words.push(text); }, isTerminal: false, color: false };
    return { words, exit: runInServer(folder, { ...ask, name }, { outlet, signal }) };
  }

  it('is stopped there by Ctrl-C here, and reports its own end', async () => {
    const interrupted = new AbortController();
    const { words, exit } = run(() => { interrupted.abort(); }, interrupted.signal);
    expect(await exit).to.equal(1);
    expect(words).to.equal(['Stopped. What was imported stays.\n']);
  });

  it('asks for a restart when a build has replaced its modules', async () => {
    const { words, exit } = run(() => {}, new AbortController().signal, 'load');
    expect(await exit).to.equal(1);
    expect(words).to.equal(['The server runs a build that another one has replaced since its start. Restart it and run the command again.\n']);
  });

  it('reports that the server stopped when it did', async () => {
    const { words, exit } = run(() => { void socket.close(); }, new AbortController().signal);
    expect(await exit).to.equal(1);
    expect(words.join('')).to.startWith('The server stopped before the command was done.');
  });
});
