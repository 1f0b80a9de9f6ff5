import { execFile, execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { createFolder, sqliteDrivers } from './support.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it } = lab;

// Killing a process cannot tell a flushed write from one in the system's cache, so the flushes themselves are counted.
const COUNTER = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
static void note(void) { int f = open(getenv("FLUSH_LOG"), O_WRONLY | O_APPEND); if (f >= 0) { (void)!write(f, "f", 1); close(f); } }
int fdatasync(int fd) { int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync"); int result = real(fd); note(); return result; }
int fsync(int fd) { int (*real)(int) = dlsym(RTLD_NEXT, "fsync"); int result = real(fd); note(); return result; }
`;

const hasCompiler = (() => {
  try {
    execFileSync('gcc', ['--version'], { stdio: 'ignore' });
    return process.platform === 'linux';
  } catch {
    return false;
  }
})();

for (const name of sqliteDrivers()) describe(`durability of SQLite, by the driver ${name}`, () => {
  if (!hasCompiler) console.log('Skipped: counting flushes to the disk needs Linux and gcc');

  it('flushes the log to the disk before each group is answered, and once for a whole group', { skip: !hasCompiler, timeout: 60_000 }, async () => {
    const folder = await createFolder();
    const [source, library, log] = [join(folder, 'flush.c'), join(folder, 'flush.so'), join(folder, 'flush.log')];
    await writeFile(source, COUNTER);
    await writeFile(log, '');
    await promisify(execFile)('gcc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
    const script = `
      import { appendFileSync } from 'node:fs';
      const { openDatabase } = await import(${JSON.stringify(new URL('../connect.js', import.meta.url).href)});
      const db = await openDatabase({ url: null, dataDir: ${JSON.stringify(join(folder, 'data'))}, pool: 1, driver: ${JSON.stringify(name)}, log: { debug() {}, warn() {} } });
      const note = (letter) => appendFileSync(${JSON.stringify(log)}, letter);
      const write = () => db.write((tx) => tx.raw('insert into notes values (1)')).then(() => note('a'));
      await db.write((tx) => tx.raw('create table notes (a integer)'));
      note('|');
      for (let count = 0; count < 10; count++) await write();
      note('|');
      await Promise.all(Array.from({ length: 60 }, write));
      note('|');
      await db.close();`;
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env: { ...process.env, LD_PRELOAD: library, FLUSH_LOG: log } });
    const [, alone, together] = (await readFile(log, 'utf8')).split('|');
    expect(alone).to.match(/^(f+a){10}$/);
    expect(together).to.match(/^(f+a+)+$/);
    expect(together!.replaceAll('f', '').length).to.equal(60);
    expect(together!.replaceAll('a', '').length).to.be.below(10);
  });
});
