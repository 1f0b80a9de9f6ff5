import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A process of its own that runs a script of this folder and tells what it does. */
export interface Child {
  messages: Record<string, unknown>[];
  ended: Promise<unknown>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export async function startChild(script: string, settings: unknown): Promise<Child> {
  const process: ChildProcess = fork(join(import.meta.dirname, `${script}.js`), [JSON.stringify(settings)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const messages: Record<string, unknown>[] = [];
  process.on('message', (message) => messages.push(message as Record<string, unknown>));
  const ended = once(process, 'exit');
  await Promise.race([once(process, 'message'), ended.then(() => { throw new Error(`${script} ended before it was ready`); })]);
  return {
    messages,
    ended,
    async kill(signal) {
      process.kill(signal);
      await ended;
    },
  };
}
