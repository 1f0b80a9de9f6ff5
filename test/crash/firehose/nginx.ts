import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../core/testing/port.ts';

export interface Proxy {
  url: string;
  stop(): Promise<void>;
}

/** Why there can be no nginx here; null when there can. */
export function nginxMissing(): string | null {
  return spawnSync('nginx', ['-v']).error ? 'this machine has no nginx' : null;
}

/** nginx as somebody would write it down in a minute: it buffers, compresses and passes upgrades on. */
export async function startNginx(upstream: string): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), 'civic-nginx-'));
  const port = await freePort();
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
  writeFileSync(join(folder, 'nginx.conf'), `
    daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/errors;
    events { worker_connections 512; }
    http {
      access_log off; ${paths}
      gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;
      proxy_buffering on; proxy_buffer_size 64k; proxy_buffers 16 64k;
      map $http_upgrade $connection_upgrade { default upgrade; '' close; }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass ${upstream}; proxy_http_version 1.1;
          proxy_set_header Host $host; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;
        }
      }
    }`);
  const child = spawn('nginx', ['-p', folder, '-e', join(folder, 'errors'), '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' });
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; !(await fetch(`${url}/health`).then(({ ok }) => ok, () => false)); tries++) {
    if (tries > 200) throw new Error('nginx does not answer');
    await sleep(20);
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
