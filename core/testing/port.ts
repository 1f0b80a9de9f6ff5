import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Returns an unused port of this machine, outside the range from which the system assigns ports: another process could be assigned it before the test uses it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
