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
/** npm's own record of what it installed, written last. */
const recordFile = (root) => path.join(root, 'node_modules', '.package-lock.json');

/** Changes when another set of packages is wanted. */
function installKey(root) {
  return createHash('sha256').update(fs.readFileSync(path.join(root, 'package-lock.json'))).update(`${process.platform} ${process.arch}`).digest('hex');
}

/** The packages that an install must have put there, without those that some platforms lack. */
function wantedPackages(lock, dev) {
  return Object.entries(lock.packages).filter(([place, entry]) => place && !entry.optional && (dev || !(entry.dev || entry.devOptional)));
}

/** Whether npm finished an install of these very versions. */
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

/** The stamp names the versions of Node for which the driver was checked: a native module may load in one and not in another. */
function writeStamp(root, dev) {
  const key = installKey(root);
  const before = readJson(stampFile(root));
  const nodes = before?.key === key ? before.nodes ?? [] : [];
  fs.writeFileSync(stampFile(root), JSON.stringify({ key, dev, nodes: [...new Set([...nodes, process.versions.modules])] }));
}

/** The stamp answers at once; without it, an install made by hand counts when it is complete. */
function isInstalled(root, dev) {
  const stamp = readJson(stampFile(root));
  if (stamp?.key === installKey(root) && (stamp.dev || !dev) && stamp.nodes?.includes(process.versions.modules)) return true;
  if (!hasPackages(root, dev) || !driverLoads(root)) return false;
  try {
    writeStamp(root, hasPackages(root, true));
  } catch {
    // A checkout that cannot be written to runs all the same.
  }
  return true;
}

/** The prefix whose headers belong to the running Node: node-gyp would otherwise download them. */
function headersPrefix() {
  const [major, minor, patch] = process.versions.node.split('.');
  const belongs = (prefix) => {
    try {
      const header = fs.readFileSync(path.join(prefix, 'include/node/node_version.h'), 'utf8');
      return fs.existsSync(path.join(prefix, 'include/node/node_api.h'))
        && [['MAJOR', major], ['MINOR', minor], ['PATCH', patch]].every(([part, value]) => new RegExp(`NODE_${part}_VERSION ${value}\\b`).test(header));
    } catch {
      return false;
    }
  };
  return [path.dirname(path.dirname(fs.realpathSync(process.execPath))), '/usr/local', '/usr'].find(belongs);
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
  // A ready-made driver may ask for newer system libraries than this machine has.
  await step({ ...rebuild, label: 'The ready-made SQLite driver does not run here; compiling it', env: { ...env, npm_config_build_from_source: 'true' } });
  if (!driverLoads(root)) throw new Error('The SQLite driver was built but does not load. See: node -e \'require("sqlite3")\'');
}

/** Gets the driver where it does not load. Without it Civic runs on Node's own SQLite, where Node has one. */
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
  // Whatever stops npm half-way, no record says that it finished.
  fs.rmSync(stampFile(root), { force: true });
  fs.rmSync(recordFile(root), { force: true });
  await step({
    label: `Installing ${count} packages`, usually: 'half a minute', log: 'install.log', command: 'npm', cwd: root, lock,
    // On top of a complete install only what differs is changed, so a compiled driver stays; anything else starts from nothing.
    // No package runs a script of its own, since only the driver needs one, and that comes next.
    // npm would try for two minutes before it says that there is no network.
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
