import { mkdir, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { archiveOf, unpackArchive } from '../archive.ts';
import { createBackup } from '../backup.ts';
import { backupName, deletePartialBackups, listBackups } from '../backups.ts';
import { migrate } from '../migrate.ts';
import { readManifest } from '../manifest.ts';
import { createFolder, databases } from './support.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const { create } = databases()[0]!;

describe('An archive of a backup', () => {
  let folder: string;
  let name: string;
  before(async () => {
    folder = await createFolder();
    const database = await create();
    const db = await database.open();
    await migrate(db, []);
    name = backupName('test');
    await createBackup(db, join(folder, name), { config: 'name: Test\n' });
    await database.drop();
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('has the size that it states, and unpacks to the same backup', async () => {
    const archive = (await archiveOf(folder, name))!;
    const content = await buffer(archive.open());
    expect([content.length, archive.fileName]).to.equal([archive.bytes, `${name}.tar`]);
    await writeFile(join(folder, 'whole.tar'), content);
    await unpackArchive(join(folder, 'whole.tar'), join(folder, 'unpacked'));
    expect(await readManifest(join(folder, 'unpacked'))).to.equal(await readManifest(join(folder, name)));
    const [first, second] = await listBackups(folder);
    expect([first!.rows, first!.bytes]).to.equal([second!.rows, second!.bytes]);
    await rm(join(folder, 'unpacked'), { recursive: true });
  });

  it('leaves no file open when the client stops reading', async () => {
    await writeFile(join(folder, name, 'config.yaml'), Buffer.alloc(4_000_000, '#'));
    const content = (await archiveOf(folder, name))!.open();
    for (let read = 0; read < 1_000_000;) {
      await once(content, 'readable');
      read += (content.read() as Buffer | null)?.length ?? 0;
    }
    content.destroy();
    const opened = async (): Promise<string[]> => {
      const paths = await Promise.all((await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
      return paths.filter((path) => path.startsWith(join(folder, name)));
    };
    for (let tries = 0; tries < 50 && (await opened()).length > 0; tries++) await sleep(20);
    expect(await opened()).to.equal([]);
    await writeFile(join(folder, name, 'config.yaml'), 'name: Test\n');
  });

  it('is not made of what was interrupted, is elsewhere or is no backup', async () => {
    await mkdir(join(folder, `${name}.partial`));
    for (const other of [`${name}.partial`, '..', '.', '', `../${folder.split('/').at(-1)}/${name}`, 'whole.tar', 'nothing']) expect(await archiveOf(folder, other), other).to.be.null();
    expect((await listBackups(folder)).map((backup) => backup.name)).to.equal([name]);
    await deletePartialBackups(folder, 'other');
    expect(await listBackups(join(folder, 'nowhere'))).to.equal([]);
  });
});
