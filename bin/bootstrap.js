'use strict';

// Prepares a fresh clone: installs the packages of package-lock.json and builds dist/, when either is not up to date.
// Uses only modules of Node, and syntax that old versions parse, so that they can print the message below.

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
  // An installed package and a deployment of dist/ have no sources to build.
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

/** Resolves when dist/ can be run. Otherwise prints what to do and exits with 1. */
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
