import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { takeWriterLock } from '../lock.ts';
import { createFolder } from './support.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the lock of the one writing process', () => {
  it('is held by one at a time, and free again once released', async () => {
    const folder = await createFolder();
    const lock = await takeWriterLock(folder);
    await expect(takeWriterLock(folder)).to.reject(`Another civic process is running on the data folder ${folder}. Stop it first, or use another folder with --data.`);
    await lock.release();
    await (await takeWriterLock(folder)).release();
  });

  it('says so when the data folder cannot be used', async () => {
    const file = `${await createFolder()}/file`;
    await writeFile(file, '');
    await expect(takeWriterLock(file)).to.reject(`The data folder ${file} cannot be used: ${file} is a file where a folder is expected.\nTo fix it, choose another folder with --data or data_dir.`);
  });

  it('is gone with a process that was killed', { timeout: 60_000 }, async () => {
    const folder = await createFolder();
    const script = `const { takeWriterLock } = await import(${JSON.stringify(new URL('../lock.js', import.meta.url).href)});
      await takeWriterLock(${JSON.stringify(folder)}); console.log('held'); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    await expect(takeWriterLock(folder)).to.reject(/Another civic process/);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    await (await takeWriterLock(folder)).release();
  });
});
