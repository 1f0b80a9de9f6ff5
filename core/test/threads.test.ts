import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawnSync } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createThreads, type ThreadError, type ThreadLimits, type Threads } from '../threads.ts';
import { slowness } from './wait.ts';

export const lab = Lab.script();
const { describe, it, after } = lab;

const FUNCTIONS = new URL('./threads/functions.js', import.meta.url);
const open: Threads[] = [];

function threads(limits: Partial<ThreadLimits> = {}): Threads {
  const created = createThreads(FUNCTIONS, { count: 2, seconds: 20, memory_mb: 64, ...limits });
  open.push(created);
  return created;
}

async function failure(call: Promise<unknown>): Promise<ThreadError> {
  const error = await call.then(() => null, (error: unknown) => error);
  expect((error as Error | null)?.name).to.equal('ThreadError');
  return error as ThreadError;
}

describe('Threads', () => {
  after(() => Promise.all(open.map((created) => created.close())));

  it('return the results of fifty concurrent calls, each its own', async () => {
    const { run } = threads({ count: 3 });
    const results = await Promise.all(Array.from({ length: 50 }, (_, index) => run<number>('add', index, 1)));
    expect(results).to.equal(Array.from({ length: 50 }, (_, index) => index + 1));
  });

  it('run as many calls at once as there are threads, and no more', async () => {
    const { run } = threads({ count: 2 });
    await Promise.all([run('wait', 1), run('wait', 1)]);
    const started = performance.now();
    await Promise.all([1, 2, 3, 4].map(() => run('wait', 200)));
    expect(performance.now() - started).to.be.at.least(395);
  });

  it('end a call that takes too long, and serve the next one in a new thread', async () => {
    const { run } = threads({ count: 1, seconds: 0.3 });
    const delay = monitorEventLoopDelay({ resolution: 5 });
    const looping = failure(run('loop'));
    const next = run('add', 1, 2);
    delay.enable();
    expect((await looping).code).to.equal('too_slow');
    delay.disable();
    expect(delay.max / 1e6).to.be.below(100 * slowness);
    expect(await next).to.equal(3);
  });

  it('end a call that takes too much memory, and give the memory back', async () => {
    const { run } = threads({ count: 1 });
    expect((await failure(run('allocate'))).code).to.equal('out_of_memory');
    // An allocator may keep the memory of one heap to use it again, but not that of each.
    const before = process.memoryUsage().rss;
    for (let again = 0; again < 3; again++) expect((await failure(run('allocate'))).code).to.equal('out_of_memory');
    expect(await run('add', 1, 2)).to.equal(3);
    expect((process.memoryUsage().rss - before) / 1e6).to.be.below(100);
  });

  it('serve every call that comes while a thread without calls is ended', async () => {
    const { run } = threads({ count: 1, idle_ms: 1 });
    for (let call = 0; call < 30; call++) {
      expect(await run('add', call, 1)).to.equal(call + 1);
      await sleep(call % 4);
    }
  });

  it('end a call that takes too much memory outside of the JavaScript heap', async () => {
    const { run } = threads({ count: 1, seconds: 5 });
    expect((await failure(run('allocateBytes'))).code).to.equal('out_of_memory');
    expect(await run('add', 1, 2)).to.equal(3);
  });

  it('reject with the error of the function, and keep the thread', async () => {
    const { run } = threads({ count: 1 });
    const error = await failure(run('fail', 'no number'));
    expect([error.code, error.message, (error.cause as Error).name]).to.equal(['failed', 'no number', 'RangeError']);
    expect((await failure(run('failWithText'))).message).to.equal('a text');
    expect((await failure(run('unsendable'))).message).to.contain('could not be cloned');
    expect((await failure(run('toString'))).message).to.equal('The module exports no function "toString".');
    expect((await failure(run('add', () => 1))).message).to.equal('The arguments cannot be sent to a thread.');
    expect(await run('add', 1, 2)).to.equal(3);
  });

  it('reject when the thread exits, and when the module cannot be loaded', async () => {
    const { run } = threads({ count: 1 });
    expect((await failure(run('exit'))).code).to.equal('failed');
    expect(await run('add', 1, 2)).to.equal(3);
    const missing = createThreads(new URL('./threads/missing.js', import.meta.url), { count: 1, seconds: 5, memory_mb: 64 });
    expect((await failure(missing.run('add', 1, 2))).code).to.equal('failed');
  });

  it('send a slice of bytes without the rest of its buffer, and leave it to the caller', async () => {
    const { run } = threads();
    const bytes = Buffer.alloc(1000, 1).subarray(0, 10);
    expect(await run('sum', bytes)).to.equal({ sum: 10, buffer: 10 });
    expect(bytes.length).to.equal(10);
    expect((await run<Uint8Array>('zeros', 1000)).byteLength).to.equal(1000);
  });

  it('reject what runs and waits when they are closed, and every later call', async () => {
    const { run, close } = threads({ count: 1 });
    const calls = [run('loop'), run('add', 1, 2)].map(failure);
    await close();
    for (const call of [...calls, failure(run('add', 1, 2))]) expect((await call).message).to.equal('The threads are closed.');
  });

  it('keep the process running for a call, and not without one', () => {
    const script = `
      const { createThreads } = await import(${JSON.stringify(new URL('../threads.js', import.meta.url).href)});
      const { run } = createThreads(new URL(${JSON.stringify(FUNCTIONS.href)}), { count: 1, seconds: 5, memory_mb: 64 });
      const started = performance.now();
      run('wait', 300).then(() => { console.log('done'); process.on('exit', () => console.log(performance.now() - started < 3000)); });`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(stdout).to.equal('done\ntrue\n');
  });
});
