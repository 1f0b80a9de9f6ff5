import { execFileSync, spawnSync } from 'node:child_process';

/** Returns why this process cannot mount a file system for a child process; null when it can. */
export function mountMissing(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'mounting a disk for a test needs Linux and root';
  const { status } = spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt'], { stdio: 'ignore' });
  return status === 0 ? null : 'this system does not allow mounts (unshare -m, mount)';
}

/** Returns a value for `through`: runs shell commands in a new mount namespace, which ends with the process, and then the program. */
export function afterMounting(script: string): string[] {
  return ['unshare', '-m', 'sh', '-ec', `${script}\nexec "$@"`, 'sh'];
}

/** Returns the path of a file in the mount namespace of another process. */
export function seenBy(pid: number, path: string): string {
  return `/proc/${pid}/root${path}`;
}

/** Runs shell commands in the mount namespace of a process that `unshare -m` started. */
export function mountFor(pid: number, script: string): void {
  execFileSync('nsenter', ['-t', String(pid), '-m', 'sh', '-ec', script]);
}
