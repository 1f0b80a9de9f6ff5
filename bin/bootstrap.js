'use strict';

// Makes a fresh clone run: installs what package-lock.json names and builds dist/, when either is not up to date.
// Node's own modules only, and in syntax that old versions can read: they must get as far as the sentence below.

const fs = require('fs');
const path = require('path');

function unsupportedNode(version) {
  const parts = version.split('.').map(Number);
  if (parts[0] < 20 || (parts[0] === 20 && parts[1] < 19)) {
    return `Civic needs Node 20.19 or newer, and this is Node ${version}. Get a newer one from https://nodejs.org or your system's packages.`;
  }
  return null;
}

async function bringUpToDate(root, dev) {
  // An installed package or a deployment of dist/ alone comes without sources: there is nothing to build.
  if (!fs.existsSync(path.join(root, 'tsconfig.json'))) return;
  const { isInstalled, install } = require('./bootstrap/install.js');
  const { isBuilt, build } = require('./bootstrap/build.js');
  if (isInstalled(root, dev) && isBuilt(root, dev)) return;

  const { withLock } = require('./bootstrap/lock.js');
  await withLock(root, async (lock) => {
    if (!isInstalled(root, dev)) await install(root, dev, lock);
    if (!isBuilt(root, dev)) await build(root, dev, lock);
  });
}

/** Resolves when dist/ can be run. Otherwise says what to do and ends the process with exit code 1. */
async function bootstrap(options) {
  const root = path.join(__dirname, '..');
  const dev = Boolean(options && options.dev);
  const refusal = unsupportedNode(process.versions.node);
  try {
    if (refusal) throw new Error(refusal);
    await bringUpToDate(root, dev);
  } catch (error) {
    const advice = refusal ? null : require('./bootstrap/advice.js').advice(error, root);
    process.stderr.write(`${advice || error.message}\n`);
    process.exit(1);
  }
}

module.exports = { bootstrap, unsupportedNode };

if (require.main === module) void bootstrap({ dev: process.argv.includes('--dev') });
