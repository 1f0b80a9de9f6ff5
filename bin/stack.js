'use strict';

// Names the TypeScript sources in stack traces. Node's own support reads the source map of every module when it loads the module,
// which costs a start a tenth of its time; this reads the map of a module when a stack names that module.

const fs = require('fs');
const { SourceMap } = require('module');
const path = require('path');
const { fileURLToPath } = require('url');

const POSITION = /((?:file:\/\/)?\/[^():]+\.js):(\d+):(\d+)/;
const maps = new Map();

function readMap(file) {
  try {
    return new SourceMap(JSON.parse(fs.readFileSync(`${file}.map`, 'utf8')));
  } catch {
    return null;
  }
}

function sourceMapOf(file) {
  if (!maps.has(file)) maps.set(file, readMap(file));
  return maps.get(file);
}

function sourcePosition(position, url, line, column) {
  const file = url.startsWith('file:') ? fileURLToPath(url) : url;
  const entry = sourceMapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
  return entry?.originalSource ? `${path.resolve(path.dirname(file), entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}` : position;
}

function headline(error) {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}

/** Makes every stack of this process name files below `dist` by their sources. */
function nameSources(dist) {
  const isBuilt = (frame) => frame.includes(dist + path.sep);
  Error.prepareStackTrace = (error, frames) => [
    headline(error),
    ...frames.map(String).map((frame) => `    at ${isBuilt(frame) ? frame.replace(POSITION, sourcePosition) : frame}`),
  ].join('\n');
}

module.exports = { nameSources };
