'use strict';

const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');
const { bootstrap } = require('./bootstrap.js');

const dist = path.join(__dirname, '..', 'dist');

/** The bundle loads faster; without a bundle the single modules run. */
function load(bundled, single) {
  const file = path.join(dist, 'bundle', bundled);
  return import(pathToFileURL(fs.existsSync(file) ? file : path.join(dist, single)).href);
}

/** Runs a program of the kit: civic, or that of a plugin. */
async function start(name) {
  // Read once by libuv, at first use: SQLite's four connections alone would fill its usual pool of four.
  if (!process.env.UV_THREADPOOL_SIZE) process.env.UV_THREADPOOL_SIZE = '8';
  await bootstrap();
  require('./stack.js').nameSources(dist);
  const { main } = await load('main.js', 'core/cli/main.js');
  const { program } = name ? await load(`program-${name}.js`, `plugins/${name}/program.js`) : {};
  process.exitCode = await main(process.argv.slice(2), program);
}

module.exports = { start };
