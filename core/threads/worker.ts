import { parentPort, workerData } from 'node:worker_threads';
import type { Reply, Request } from './thread.ts';

const port = parentPort!;
const functions = await import(workerData as string) as Record<string, (...given: unknown[]) => unknown>;

function send(reply: Reply): void {
  const value = reply[1];
  const isWhole = value instanceof Uint8Array && value.byteLength === value.buffer.byteLength;
  port.postMessage(reply, isWhole ? [value.buffer as ArrayBuffer] : []);
}

port.on('message', async ([name, given]: Request) => {
  try {
    if (!Object.hasOwn(functions, name)) throw new Error(`The module exports no function "${name}".`);
    send(['result', await functions[name]!(...given)]);
  } catch (error) {
    const { name: kind, message, stack } = error instanceof Error ? error : new Error(String(error));
    send(['error', kind, message, stack]);
  }
});
// The time limit of the first call begins here.
send(['ready']);
