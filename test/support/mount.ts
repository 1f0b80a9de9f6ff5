import { execFileSync, spawnSync } from 'node:child_process';

/** Why this process cannot mount anything for a child of its own; null when it can. */
export function mountMissing(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'mounting a disk for a test needs Linux and root';
  const { status } = spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt'], { stdio: 'ignore' });
  return status === 0 ? null : 'this system lets nobody mount a disk (unshare -m, mount)';
}

/** For `through`: runs shell commands in a mount namespace of its own, which ends with the process, and then the program. */
export function afterMounting(script: string): string[] {
  return ['unshare', '-m', 'sh', '-ec', `${script}\nexec "$@"`, 'sh'];
}

/** A path as a process in another mount namespace sees it. */
export function seenBy(pid: number, path: string): string {
  return `/proc/${pid}/root${path}`;
}

/** Runs shell commands in the mount namespace of a process that `unshare -m` started. */
export function mountFor(pid: number, script: string): void {
  execFileSync('nsenter', ['-t', String(pid), '-m', 'sh', '-ec', script]);
}
