import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { takeWriterLock } from '../lock.ts';
import { createFolder, driverOf, quiet, sqliteDrivers } from './support.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it } = lab;

for (const name of sqliteDrivers()) describe(`the lock of the one writing process, by the driver ${name}`, () => {
  const take = async (folder: string) => takeWriterLock(folder, await driverOf(name), quiet);

  it('is held by one at a time, and free again once released', async () => {
    const folder = await createFolder();
    const lock = await take(folder);
    await expect(take(folder)).to.reject(`Another civic process is running on the data folder ${folder}. Stop it first, or use another folder with --data.`);
    await lock.release();
    await (await take(folder)).release();
  });

  it('says so when the data folder cannot be used', async () => {
    const file = `${await createFolder()}/file`;
    await writeFile(file, '');
    await expect(take(file)).to.reject(`The data folder ${file} cannot be used: ${file} is a file where a folder is expected.\nTo fix it, choose another folder with --data or data_dir.`);
  });

  it('is gone with a process that was killed', { timeout: 60_000 }, async () => {
    const folder = await createFolder();
    const script = `const { takeWriterLock } = await import(${JSON.stringify(new URL('../lock.js', import.meta.url).href)});
      const { chooseDriver } = await import(${JSON.stringify(new URL('../sqlite/choose.js', import.meta.url).href)});
      await takeWriterLock(${JSON.stringify(folder)}, (await chooseDriver(${JSON.stringify(name)})).driver); console.log('held'); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    await expect(take(folder)).to.reject(/Another civic process/);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    await (await take(folder)).release();
  });
});
