import { readdir, readFile } from 'node:fs/promises';

const MOST_KB = 1024 * 1024;
const EVERY_MS = 250;

/** Calls `onExcess` once when the processes of a group have more memory of their own than allowed. Only Linux shows it; elsewhere this does nothing. Returns the function that ends it. */
export function watchMemory(group: number, onExcess: () => void): () => void {
  if (process.platform !== 'linux') return () => {};
  let isOver = false;
  async function check(): Promise<void> {
    // The list cannot be read while too many files are open.
    if (await groupMemory(group).catch(() => 0) > MOST_KB && !isOver) onExcess();
    if (!isOver) timer = setTimeout(check, EVERY_MS);
  }
  let timer = setTimeout(check, EVERY_MS);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Returns the memory in kB that the processes of a group do not share with files. */
async function groupMemory(group: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const sizes = await Promise.all(pids.map(async (pid) => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    const value = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    return value('NSpgid') === group ? value('RssAnon') + value('RssShmem') : 0;
  }));
  return sizes.reduce((sum, size) => sum + size, 0);
}
