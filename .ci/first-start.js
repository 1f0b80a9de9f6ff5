// Starts bin/civic serve in a checkout that nobody has touched, twice: both must answer /health and stop cleanly.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const [folder] = process.argv.slice(2);

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function isHealthy(port) {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health`)).ok;
  } catch {
    return false;
  }
}

async function start(limitSeconds) {
  const port = await freePort();
  const started = performance.now();
  const seconds = () => ((performance.now() - started) / 1000).toFixed(1);
  const server = spawn('bin/civic', ['serve', '--port', String(port)], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
  const exit = once(server, 'exit');
  while (!(await isHealthy(port))) {
    if (server.exitCode !== null) throw new Error(`bin/civic serve ended with exit code ${server.exitCode} before /health answered`);
    if (Number(seconds()) > limitSeconds) {
      server.kill('SIGKILL');
      throw new Error(`/health did not answer within ${limitSeconds} s`);
    }
    await sleep(100);
  }
  console.log(`/health answered after ${seconds()} s`);
  server.kill('SIGTERM');
  const [code] = await exit;
  if (code !== 0) throw new Error(`bin/civic serve ended with ${code} on SIGTERM, not 0`);
}

try {
  await start(600);
  await start(30);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
