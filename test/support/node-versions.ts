import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The oldest supported version, and one of every later release line. */
export const NODE_VERSIONS = ['20.19.0', '22.23.3', '24.19.0', '26.10.0'] as const;

/** Outside the tree, because the binaries are 100 MB each and stay for the next run; not in the home folder, because some tests start them as another user. */
function cacheFolder(): string {
  return join(tmpdir(), `civic-nodes-${userInfo().uid}`);
}

/** Installs a version of Node from the npm registry once. Returns the folder with its `node`. */
export async function installNode(version: string): Promise<string> {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  // The npm package `node` installs this one by a script; the binary is all that is needed.
  const name = `node-${platform}-${process.arch}`;
  const folder = join(cacheFolder(), version);
  const bin = join(folder, 'node_modules', name, 'bin');
  if (!existsSync(folder)) {
    const fresh = `${folder}.${process.pid}`;
    mkdirSync(fresh, { recursive: true });
    try {
      await promisify(execFile)('npm', ['install', '--prefix', fresh, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', `${name}@${version}`]);
      renameSync(fresh, folder);
    } finally {
      rmSync(fresh, { recursive: true, force: true });
    }
  }
  await promisify(execFile)(join(bin, 'node'), ['--version']);
  return bin;
}
