'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');

const HEARTBEAT_MS = 1000;
const SILENT_HOLDER_MS = 60_000;
const SILENT_CHILD_MS = 600_000;
const TAKEOVER_MS = 10_000;

const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
  try {
    // A zombie still accepts signals. Linux shows its state; containers without an init process never reap it.
    return !/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

function read(file) {
  let age;
  try {
    age = Date.now() - fs.statSync(file).mtimeMs;
    return { holder: JSON.parse(fs.readFileSync(file, 'utf8')), age };
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    // Created and not written yet, or its writer was killed: only the age of the file can tell.
    if (error instanceof SyntaxError) return { holder: { pid: 0, host: null }, age };
    throw error;
  }
}

/** Whether the holder has ended: its process is gone, or, on another host or with a reused process id, the file is too old. */
function isStale({ holder, age }) {
  if (holder.host !== os.hostname()) return age > SILENT_HOLDER_MS;
  if (holder.pid === process.pid) return true;
  if (isAlive(holder.pid)) return age > SILENT_HOLDER_MS;
  // The npm that it started may still run and write.
  return !(holder.child && isAlive(holder.child)) || age > SILENT_CHILD_MS;
}

function create(file, content) {
  try {
    fs.writeFileSync(file, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes a stale lock. One process at a time checks and removes it; otherwise one could remove the new lock of another. */
function removeStale(file) {
  const guard = `${file}.takeover`;
  if (!create(guard, '')) {
    const left = fs.statSync(guard, { throwIfNoEntry: false });
    if (left && Date.now() - left.mtimeMs > TAKEOVER_MS) fs.rmSync(guard, { force: true });
    return;
  }
  const lock = read(file);
  if (lock && isStale(lock)) fs.rmSync(file, { force: true });
  fs.rmSync(guard, { force: true });
}

async function acquire(file) {
  const content = JSON.stringify({ pid: process.pid, host: os.hostname() });
  let isReported = false;
  while (!create(file, content)) {
    const lock = read(file);
    if (lock && isStale(lock)) {
      removeStale(file);
    } else if (lock && !isReported) {
      process.stderr.write(`Another start (process ${lock.holder.pid}) is installing or building; waiting for it.\n`);
      isReported = true;
    }
    await sleep(50);
  }
}

/** Runs `work` while no other process of this checkout installs or builds. */
async function withLock(root, work) {
  const folder = path.join(root, '.civic');
  const file = path.join(folder, 'lock');
  fs.mkdirSync(folder, { recursive: true });
  await acquire(file);
  const heartbeat = setInterval(() => fs.utimes(file, new Date(), new Date(), () => {}), HEARTBEAT_MS);
  const release = () => {
    clearInterval(heartbeat);
    fs.rmSync(file, { force: true });
  };
  const lock = {
    folder,
    release,
    setChild: (child) => fs.writeFileSync(file, JSON.stringify({ pid: process.pid, host: os.hostname(), child })),
  };
  try {
    await work(lock);
  } finally {
    release();
  }
}

module.exports = { withLock };
