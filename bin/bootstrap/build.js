'use strict';

const { createHash } = require('crypto');
const fs = require('fs');
const path = require('path');
const { installKey } = require('./install.js');
const { step } = require('./step.js');

const SOURCES = ['core', 'plugins', 'test', 'bench'];

function sourceFiles(folder, found = []) {
  let entries;
  try {
    entries = fs.readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT') return found;
    throw error;
  }
  for (const entry of entries) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules') sourceFiles(file, found);
    else if (entry.isFile() && entry.name.endsWith('.ts')) found.push(file);
  }
  return found;
}

/** Changes when dist/ would: `describe` tells a source file by its size and time, or by its content. */
function buildKey(root, describe) {
  const hash = createHash('sha256').update(installKey(root)).update(fs.readFileSync(path.join(root, 'tsconfig.json')));
  for (const folder of SOURCES) {
    for (const file of sourceFiles(path.join(root, folder)).sort()) hash.update(`\n${path.relative(root, file)}\n`).update(describe(file));
  }
  return hash.digest('hex');
}

function keys(root) {
  return {
    times: buildKey(root, (file) => {
      const { size, mtimeMs } = fs.statSync(file);
      return `${size} ${mtimeMs}`;
    }),
    content: () => buildKey(root, (file) => fs.readFileSync(file)),
  };
}

/** Times are looked at first; files that were only copied or touched still have the content that was built. */
function isBuilt(root, dev) {
  const stampFile = path.join(root, 'dist', '.civic-build');
  let stamp;
  try {
    stamp = JSON.parse(fs.readFileSync(stampFile, 'utf8'));
  } catch {
    return false;
  }
  if (dev && !stamp.checked) return false;
  const now = keys(root);
  if (stamp.times === now.times) return true;
  if (stamp.content !== now.content()) return false;
  try {
    fs.writeFileSync(stampFile, JSON.stringify({ ...stamp, times: now.times }));
  } catch {
    // A checkout that cannot be written to runs all the same.
  }
  return true;
}

/** Puts the new folder in place of the old one, so that no process ever sees half a compilation. */
function replace(target, replacement, aside) {
  fs.rmSync(aside, { recursive: true, force: true });
  if (fs.existsSync(target)) fs.renameSync(target, aside);
  fs.renameSync(replacement, target);
}

/** Writes what starts would compute otherwise. Runs in dist/, since compiled code finds itself and its files there. */
async function prepare(root, previous, lock) {
  const script = path.join(root, 'dist', 'core', 'build.js');
  if (!fs.existsSync(script)) return;
  await step({ label: 'Preparing data', usually: 'a few seconds', log: 'prepare.log', cwd: root, lock, command: process.execPath, args: [script, previous] });
}

async function build(root, dev, lock) {
  // Beside dist/, as deep as dist/: source maps hold relative paths.
  const fresh = path.join(root, '.civic-dist');
  fs.rmSync(fresh, { recursive: true, force: true });
  const now = keys(root);
  const stamp = { times: now.times, content: now.content(), checked: dev };
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  // Types of packages are installed for development only, so a user's build does not look at them.
  const checks = dev ? [] : ['--noCheck', '--types', ''];
  try {
    await step({
      label: dev ? 'Building and checking types' : 'Building', usually: 'a few seconds', log: 'build.log', cwd: root, lock,
      command: process.execPath, args: [compiler, '--project', root, '--outDir', fresh, '--pretty', 'false', ...checks],
    });
  } catch (error) {
    error.isCompile = true;
    throw error;
  }
  const dist = path.join(root, 'dist');
  const previous = path.join(lock.folder, 'old-dist');
  replace(dist, fresh, previous);
  await prepare(root, previous, lock);
  // Written last: without it the next start builds again.
  fs.writeFileSync(path.join(dist, '.civic-build'), JSON.stringify(stamp));
  fs.rmSync(previous, { recursive: true, force: true });
}

module.exports = { build, isBuilt };
