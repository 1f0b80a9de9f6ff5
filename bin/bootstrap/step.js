'use strict';

const { spawn } = require('child_process');
const fs = require('fs');
const path = require('path');

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };
const isWindows = process.platform === 'win32';

/** Shows a step and its duration: an animated line on a terminal, a line every 15 s elsewhere. */
function showProgress(label, usually) {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const terminal = process.stderr;
  if (!terminal.isTTY) {
    terminal.write(`${label} (usually ${usually})\n`);
    const timer = setInterval(() => terminal.write(`  still running after ${seconds()} s\n`), 15_000);
    return () => clearInterval(timer);
  }
  let frame = 0;
  const draw = () => terminal.write(`\r\x1b[K${FRAMES[frame++ % FRAMES.length]} ${label} (usually ${usually}): ${seconds()} s`);
  draw();
  const timer = setInterval(draw, 100);
  return (isDone) => {
    clearInterval(timer);
    terminal.write(`\r\x1b[K${isDone ? '✔' : '✖'} ${label} (${seconds()} s)\n`);
  };
}

function signalGroup(child, signal) {
  try {
    if (isWindows) child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** On a signal, ends the child and its process group before this process exits, so that none of them keeps writing. */
function passOnSignals(child, lock) {
  const onSignal = (signal) => {
    const end = () => {
      lock.release();
      process.stderr.write('\nStopped. The next start continues.\n');
      process.exit(128 + SIGNALS[signal]);
    };
    child.removeAllListeners('close').on('close', () => {
      signalGroup(child, 'SIGKILL');
      end();
    });
    signalGroup(child, 'SIGTERM');
    setTimeout(() => signalGroup(child, 'SIGKILL'), 3000);
  };
  for (const signal of Object.keys(SIGNALS)) process.on(signal, onSignal);
  return () => { for (const signal of Object.keys(SIGNALS)) process.removeListener(signal, onSignal); };
}

/** A command that failed, with its output and the log file. */
class StepError extends Error {
  constructor(label, log, cause) {
    super(`${label} failed.`, { cause });
    this.log = log;
    this.output = fs.readFileSync(log, 'utf8').trim();
  }
}

/** Runs one command with its output in a log file. */
async function step({ label, usually, log, command, args, cwd, env, lock }) {
  const file = path.join(lock.folder, log);
  const output = fs.openSync(file, 'w');
  const stopProgress = showProgress(label, usually);
  let error = null;
  const code = await new Promise((resolve) => {
    // A process group of its own, so that the children of npm end with it. On Windows npm is a script and needs a shell.
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', output, output], detached: !isWindows, shell: isWindows });
    const stopSignals = passOnSignals(child, lock);
    if (child.pid) lock.setChild(child.pid);
    const finish = (result) => {
      stopSignals();
      resolve(result);
    };
    child.on('error', (reason) => {
      error = reason;
      finish(-1);
    });
    child.on('close', finish);
  });
  fs.closeSync(output);
  stopProgress(code === 0);
  if (code !== 0) throw new StepError(label, file, error);
}

module.exports = { step };
