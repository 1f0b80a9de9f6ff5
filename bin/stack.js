'use strict';

// Names the TypeScript sources in stack traces. Node's own support reads the source map of every module when it loads the module,
// which costs a start a tenth of its time; this reads the map of a module when a stack names that module.

const fs = require('fs');
const { SourceMap } = require('module');
const path = require('path');
const { fileURLToPath } = require('url');

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

function sourcePosition(file, line, column) {
  const entry = sourceMapOf(file)?.findEntry(line - 1, column - 1);
  return entry?.originalSource ? `${path.resolve(path.dirname(file), entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}` : null;
}

/** Returns a frame as Node writes it, with the position in the source instead of that in a file below `dist`. */
function describe(frame, dist) {
  const text = String(frame);
  const url = frame.getFileName();
  // A URL of a module has its spaces and letters beyond ASCII encoded.
  const file = url?.startsWith('file:') ? fileURLToPath(url) : url;
  if (!file?.startsWith(dist + path.sep)) return text;
  const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()];
  const position = sourcePosition(file, line, column);
  return position ? text.replace(`${url}:${line}:${column}`, () => position) : text;
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
  Error.prepareStackTrace = (error, frames) => [headline(error), ...frames.map((frame) => `    at ${describe(frame, dist)}`)].join('\n');
}

module.exports = { nameSources, sourcePosition };
