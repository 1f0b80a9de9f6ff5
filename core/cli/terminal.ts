import type { Terminal } from './command.ts';
import { styled } from './style.ts';

/** Where words go in the end: this process's streams, or a socket to the process that asked. */
export interface Outlet {
  out(text: string): void;
  err(text: string): void;
  /** Can redraw a line and show colours. */
  isTerminal: boolean;
  color: boolean;
}

export function processOutlet(): Outlet {
  const isTerminal = Boolean(process.stderr.isTTY);
  return {
    out: (text) => { process.stdout.write(text); },
    err: (text) => { process.stderr.write(text); },
    isTerminal,
    color: Boolean(process.stdout.isTTY) && !process.env.NO_COLOR,
  };
}

export function createTerminal(outlet: Outlet, options: { json: boolean; signal: AbortSignal }): Terminal {
  const bar = progressBar(outlet);
  return {
    json: options.json,
    signal: options.signal,
    out: (line) => { bar.clear(); outlet.out(`${line}\n`); },
    err: (line) => { bar.clear(); outlet.err(`${line}\n`); },
    print: (value, words) => { bar.clear(); outlet.out(`${options.json ? JSON.stringify(value, null, 2) : words()}\n`); },
    progress: (label, done, total) => { if (!options.json) bar.show(label, done, total); },
    style: (style, text) => (outlet.color ? styled(style, text) : text),
  };
}

const WIDTH = 24;
const QUIET_MS = 5000;

interface ProgressBar {
  show(label: string, done: number, total: number): void;
  clear(): void;
}

/** Redraws one line on a terminal; elsewhere writes a line every few seconds and at the end. */
function progressBar(outlet: Outlet): ProgressBar {
  let isShown = false;
  let lastLineAt = Date.now();
  return {
    show(label, done, total) {
      const isDone = done >= total;
      if (outlet.isTerminal) {
        outlet.err(`\r\u001b[2K${progressLine(label, done, total)}${isDone ? '\n' : ''}`);
        isShown = !isDone;
      } else if (isDone || Date.now() - lastLineAt >= QUIET_MS) {
        outlet.err(`${label}: ${count(done)} of ${count(total)}\n`);
        lastLineAt = Date.now();
      }
    },
    clear() {
      if (isShown) outlet.err('\r\u001b[2K');
      isShown = false;
    },
  };
}

function progressLine(label: string, done: number, total: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const filled = Math.round(share * WIDTH);
  return `${label} ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${Math.floor(share * 100)} %  ${count(done)} of ${count(total)}`;
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** Columns lined up, for lists in `words()`. */
export function table(rows: string[][]): string {
  const widths = rows.reduce<number[]>((found, row) => row.map((cell, i) => Math.max(found[i] ?? 0, cell.length)), []);
  return rows.map((row) => row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]!))).join('  ').trimEnd()).join('\n');
}
