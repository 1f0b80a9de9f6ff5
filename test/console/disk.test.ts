import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../core/test/wait.ts';
import { createInstance, serveCivic } from '../support/civic.ts';
import { afterMounting, mountFor, mountMissing, seenBy } from '../support/mount.ts';
import { BASE } from './kit.ts';

export const notQuick = 'it starts a process and mounts a disk';
export const lab = Lab.script();
const { describe, it } = lab;
const missing = mountMissing();

describe('A backup on a full disk', { skip: missing !== null, timeout: 120_000 }, () => {
  it('fails with the reason, leaves nothing behind, and works when there is room', async () => {
    const instance = createInstance({ public_url: BASE, plugins: { accounts: {}, console: {} } }, { ready: true });
    const { sign_in_link } = JSON.parse((await instance.civicInProcess('account', 'create', '--name', 'Ada', '--json')).stdout) as { sign_in_link: string };
    const folder = join(instance.folder, 'data', 'backups');
    mkdirSync(folder, { recursive: true });
    const served = await serveCivic(['--config', instance.configFile], { through: afterMounting(`mount -t tmpfs -o size=16k tmpfs ${folder}`) });
    try {
      let cookie = '';
      const read = async (path: string, form?: Record<string, string>): Promise<string> => {
        const response = await fetch(served.url + path, { method: form ? 'POST' : 'GET', redirect: 'manual', headers: { accept: 'text/html', cookie }, body: form && new URLSearchParams(form) });
        cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
        return response.text();
      };
      const backUp = async (): Promise<void> => {
        await read('/console/backups', { form_token: /name="form_token" value="([^"]*)"/.exec(await read('/console/backups'))![1]! });
        await until(async () => (await read('/console/backups')).includes('data-backups="idle"'));
      };
      const { pathname, searchParams } = new URL(sign_in_link);
      await read(pathname, { token: searchParams.get('token')! });

      await backUp();
      const failed = await read('/console/backups');
      expect(failed).to.contain(['The last backup failed.', 'ENOSPC', 'There is no backup yet.']);
      expect(readdirSync(seenBy(served.child.pid!, folder))).to.equal([]);

      mountFor(served.child.pid!, `mount -o remount,size=16m ${folder}`);
      await backUp();
      expect(await read('/console/backups')).to.contain('-console</code>').and.not.contain('The last backup failed.');
    } finally {
      await served.stop();
      instance.remove();
    }
  });
});
