'use strict';

const { createHash } = require('crypto');
const fs = require('fs');
const path = require('path');
const { installKey } = require('./install.js');
const { step } = require('./step.js');

const SOURCES = ['core', 'plugins'];
const DEV_SOURCES = ['test', 'bench'];

/** Returns the source files below a folder; with `tests` also those in folders named test. */
function sourceFiles(folder, tests, found = []) {
  let entries;
  try {
    entries = fs.readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT') return found;
    throw error;
  }
  for (const entry of entries) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules' && (tests || entry.name !== 'test')) sourceFiles(file, tests, found);
    else if (entry.isFile() && entry.name.endsWith('.ts')) found.push(file);
  }
  return found;
}

/** Returns a hash of the sources of dist/, with `dev` including the tests. `describe` returns the part of a file to hash: its size and time, or its content. */
function buildKey(root, dev, describe) {
  const hash = createHash('sha256').update(installKey(root)).update(fs.readFileSync(path.join(root, 'tsconfig.json')));
  for (const folder of dev ? [...SOURCES, ...DEV_SOURCES] : SOURCES) {
    for (const file of sourceFiles(path.join(root, folder), dev).sort()) hash.update(`\n${path.relative(root, file)}\n`).update(describe(file));
  }
  return hash.digest('hex');
}

function timesKey(root, dev) {
  return buildKey(root, dev, (file) => {
    const { size, mtimeMs } = fs.statSync(file);
    return `${size} ${mtimeMs}`;
  });
}

function contentKey(root, dev) {
  return buildKey(root, dev, (file) => fs.readFileSync(file));
}

function makeStamp(root, dev) {
  const keys = (all) => ({ times: timesKey(root, all), content: contentKey(root, all) });
  return { run: keys(false), dev: keys(true), checked: dev };
}

/** Compares times first, then content: a file that was only copied or touched needs no build. A start ignores tests, which are half of the files. */
function isBuilt(root, dev) {
  const stampFile = path.join(root, 'dist', '.civic-build');
  let stamp;
  try {
    stamp = JSON.parse(fs.readFileSync(stampFile, 'utf8'));
  } catch {
    return false;
  }
  if (dev && !stamp.checked) return false;
  const part = dev ? 'dev' : 'run';
  const times = timesKey(root, dev);
  if (stamp[part]?.times === times) return true;
  if (stamp[part]?.content !== contentKey(root, dev)) return false;
  try {
    fs.writeFileSync(stampFile, JSON.stringify({ ...stamp, [part]: { ...stamp[part], times } }));
  } catch {
    // A read-only checkout can still run.
  }
  return true;
}

/** Replaces a folder by renaming, so that no process sees an incomplete build. */
function replace(target, replacement, aside) {
  fs.rmSync(aside, { recursive: true, force: true });
  if (fs.existsSync(target)) fs.renameSync(target, aside);
  fs.renameSync(replacement, target);
}

/** Writes files that each start would have to compute. Runs the compiled code, which finds its files relative to dist/. */
async function prepare(root, previous, lock) {
  const script = path.join(root, 'dist', 'core', 'build.js');
  if (!fs.existsSync(script)) return;
  await step({ label: 'Preparing data', usually: 'a few seconds', log: 'prepare.log', cwd: root, lock, command: process.execPath, args: [script, previous] });
}

async function build(root, dev, lock) {
  // Beside dist/, as deep as dist/: source maps hold relative paths.
  const fresh = path.join(root, '.civic-dist');
  fs.rmSync(fresh, { recursive: true, force: true });
  const stamp = makeStamp(root, dev);
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  // Types of packages are only installed for development, so other builds do not check types.
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
