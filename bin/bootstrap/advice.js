'use strict';

const LINES = 20;

// Patterns in the output of npm, node-gyp and the system, each with its advice. The first match is shown.
const CAUSES = [
  [/\bENOSPC\b|no space left on device/i, 'The disk is full: free some space (about 300 MB are needed) and start again.'],
  [/\bEROFS\b|read-only file system/i, 'This folder cannot be written to. Build in a copy that can be written to, then use that copy.'],
  [/not found: make|make: not found|find Python|Could not find any Python|g\+\+: (?:not found|No such file)|c\+\+: not found|spawn make ENOENT|No Xcode|find VS/i,
    'The SQLite driver has to be compiled here, and the tools for it are missing.\nInstall python3, make and g++ (Debian, Ubuntu: apt install python3 make g++; Alpine: apk add python3 make g++; macOS: xcode-select --install), then start again.'],
  [/\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|FETCH_ERROR)\b|network (?:request|timeout)/i,
    'The npm registry could not be reached. The first start needs the network: check the connection (behind a proxy: npm config set proxy http://…) and start again.'],
  [/\b(?:EACCES|EPERM)\b|permission denied/i, 'This user cannot write to a file or folder here. Start as the user who owns this folder, or change its owner with chown -R.'],
  [/can only install packages when your package\.json and package-lock\.json/i, 'package-lock.json does not match package.json: run npm install once and commit the lock file.'],
];

function indented(text, count) {
  return text.split('\n').slice(-count).map((line) => `  ${line}`).join('\n');
}

/** Returns the message for an error of the bootstrap: what failed, the last lines of its output, what to do. */
function advice(error, root) {
  if (error.cause && error.cause.code === 'ENOENT') {
    return 'npm was not found, and the first start needs it. It comes with Node from https://nodejs.org; on Debian and Ubuntu: apt install npm.';
  }
  if (error.log) {
    const cause = CAUSES.find(([pattern]) => pattern.test(error.output));
    const shown = error.isCompile ? error.output.split('\n').length : LINES;
    return [error.message, indented(error.output, shown), cause && !error.isCompile ? cause[1] : '', error.isCompile ? '' : `Full output: ${error.log}`].filter(Boolean).join('\n');
  }
  if (['EROFS', 'EACCES', 'EPERM'].includes(error.code)) {
    return `${root} is not up to date with its sources and cannot be written to, so it can be neither installed nor built here (${error.code}: ${error.path}).\nStart once as a user who may write there, or build in a copy.`;
  }
  if (error.code === 'ENOSPC') return CAUSES[0][1];
  return error.code ? error.stack : error.message;
}

module.exports = { advice };
