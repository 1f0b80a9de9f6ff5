'use strict';

const { spawnSync } = require('child_process');
const { createHash } = require('crypto');
const fs = require('fs');
const { isBuiltin } = require('module');
const path = require('path');
const { step } = require('./step.js');

function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

const stampFile = (root) => path.join(root, 'node_modules', '.civic-install');
/** The lock file that npm writes at the end of an install. */
const recordFile = (root) => path.join(root, 'node_modules', '.package-lock.json');

/** Returns a hash that changes with the required packages. */
function installKey(root) {
  return createHash('sha256').update(fs.readFileSync(path.join(root, 'package-lock.json'))).update(`${process.platform} ${process.arch}`).digest('hex');
}

/** Returns the packages that an install must contain, without those that some platforms do not have. */
function wantedPackages(lock, dev) {
  return Object.entries(lock.packages).filter(([place, entry]) => place && !entry.optional && (dev || !(entry.dev || entry.devOptional)));
}

/** Whether npm has finished an install of exactly these versions. */
function hasPackages(root, dev) {
  const record = readJson(recordFile(root));
  if (!record) return false;
  const lock = readJson(path.join(root, 'package-lock.json'));
  return wantedPackages(lock, dev).every(([place, { version }]) => record.packages[place]?.version === version);
}

function driverLoads(root) {
  return spawnSync(process.execPath, ['-e', 'require("sqlite3")'], { cwd: root, stdio: 'ignore' }).status === 0;
}

/** Whether Node has a SQLite of its own that Civic can use; core/database/sqlite/choose.ts has the same rule. */
function hasNodeSqlite() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return isBuiltin('node:sqlite') && (major >= 24 || (major === 22 && minor >= 16));
}

/** Records a complete install, and the module versions of Node in which the driver loads: a native module may load in one and not in another. */
function writeStamp(root, dev) {
  const key = installKey(root);
  const before = readJson(stampFile(root));
  const nodes = before?.key === key ? before.nodes ?? [] : [];
  fs.writeFileSync(stampFile(root), JSON.stringify({ key, dev, nodes: [...new Set([...nodes, process.versions.modules])] }));
}

/** Reads the stamp first. Without one, an install by hand counts when it is complete. */
function isInstalled(root, dev) {
  const stamp = readJson(stampFile(root));
  if (stamp?.key === installKey(root) && (stamp.dev || !dev) && stamp.nodes?.includes(process.versions.modules)) return true;
  if (!hasPackages(root, dev) || !driverLoads(root)) return false;
  try {
    writeStamp(root, hasPackages(root, true));
  } catch {
    // A read-only checkout can still run.
  }
  return true;
}

/** Returns the prefix with the headers of the running Node, which node-gyp would otherwise download. */
function headersPrefix() {
  const [major, minor, patch] = process.versions.node.split('.');
  const hasHeaders = (prefix) => {
    try {
      const header = fs.readFileSync(path.join(prefix, 'include/node/node_version.h'), 'utf8');
      return fs.existsSync(path.join(prefix, 'include/node/node_api.h'))
        && [['MAJOR', major], ['MINOR', minor], ['PATCH', patch]].every(([part, value]) => new RegExp(`NODE_${part}_VERSION ${value}\\b`).test(header));
    } catch {
      return false;
    }
  };
  return [path.dirname(path.dirname(fs.realpathSync(process.execPath))), '/usr/local', '/usr'].find(hasHeaders);
}

function driverEnvironment(root) {
  const env = { npm_config_ignore_scripts: 'false' };
  const configured = spawnSync('npm', ['config', 'get', 'nodedir'], { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' }).stdout;
  const prefix = headersPrefix();
  if (prefix && /^(?:undefined|null)?\s*$/.test(configured || '')) env.npm_config_nodedir = prefix;
  // Linking the system's SQLite takes a sixth of the time; safe with any version, since one process writes.
  if (!process.env.npm_config_sqlite && fs.existsSync('/usr/include/sqlite3.h')) env.npm_config_sqlite = '/usr';
  return env;
}

async function installDriver(root, lock) {
  const env = driverEnvironment(root);
  const compiling = env.npm_config_sqlite ? '20 seconds where it is compiled, with the SQLite of this system' : 'two minutes where it is compiled';
  const rebuild = { usually: `a few seconds, ${compiling}`, log: 'driver.log', command: 'npm', args: ['rebuild', 'sqlite3'], cwd: root, lock };
  await step({ ...rebuild, label: 'Getting the SQLite driver', env });
  if (driverLoads(root)) return;
  // A prebuilt driver may need newer system libraries than this machine has.
  await step({ ...rebuild, label: 'The prebuilt SQLite driver does not run here; compiling it', env: { ...env, npm_config_build_from_source: 'true' } });
  if (!driverLoads(root)) throw new Error('The SQLite driver was built but does not load. See: node -e \'require("sqlite3")\'');
}

/** Installs the driver when it does not load. When that fails, Civic uses the SQLite of Node, if Node has one. */
async function provideDriver(root, lock) {
  if (driverLoads(root)) return;
  try {
    await installDriver(root, lock);
  } catch (error) {
    if (!hasNodeSqlite()) throw error;
    process.stderr.write(`The SQLite driver sqlite3 cannot be installed here${error.log ? ` (see ${error.log})` : ''}; the SQLite of Node ${process.versions.node} is used instead.\n`);
  }
}

async function installPackages(root, isComplete, withDev, lock) {
  const modules = path.join(root, 'node_modules');
  if (fs.lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new Error(`node_modules is a link to ${fs.realpathSync(modules)} and does not hold what package-lock.json names. Install there, or remove the link and start again.`);
  }
  const count = wantedPackages(readJson(path.join(root, 'package-lock.json')), withDev).length;
  // Removed first, so that an interrupted npm leaves no record of a complete install.
  fs.rmSync(stampFile(root), { force: true });
  fs.rmSync(recordFile(root), { force: true });
  await step({
    label: `Installing ${count} packages`, usually: 'half a minute', log: 'install.log', command: 'npm', cwd: root, lock,
    // `install` changes only what differs from a complete install and keeps the compiled driver; `ci` starts from nothing.
    // Scripts of packages are off: only the driver needs one, which runs in the next step.
    // Short retries: by default npm tries for two minutes before it reports a missing network.
    args: [...(isComplete ? ['install', '--no-save'] : ['ci']), withDev ? '--include=dev' : '--omit=dev',
      '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error',
      '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=8000'],
  });
}

async function install(root, dev, lock) {
  const before = readJson(stampFile(root));
  const withDev = dev || Boolean(before?.dev);
  if (!hasPackages(root, withDev)) await installPackages(root, before !== null, withDev, lock);
  await provideDriver(root, lock);
  writeStamp(root, withDev);
}

module.exports = { install, installKey, isInstalled };
