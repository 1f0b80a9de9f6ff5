import type { FileResult } from './file.ts';
import { nameSources } from './sources.ts';

function describe(result: FileResult): string {
  const skipped = result.skipped ? `, ${result.skipped} skipped` : '';
  return `${result.reason ? 'FAILED' : 'ok    '} ${(result.ms / 1000).toFixed(1).padStart(5)} s ${result.cpuSeconds.toFixed(1).padStart(5)} s CPU  ${result.name} (${result.reason || `${result.passed} passed${skipped}`})`;
}

/** Prints a line for each file, the output of failing files, and on a terminal the files that run now. */
export function showProgress(total: number) {
  const running = new Set<string>();
  const isTerminal = process.stdout.isTTY;
  let done = 0;
  const clear = () => { if (isTerminal) process.stdout.write('\r\x1b[K'); };
  const draw = () => {
    if (!isTerminal || !running.size) return;
    const line = `${done} of ${total} files, running ${[...running].join(', ')}`;
    process.stdout.write(line.slice(0, (process.stdout.columns || 80) - 1));
  };
  return {
    started(name: string) {
      running.add(name);
      clear();
      draw();
    },
    ended(result: FileResult) {
      running.delete(result.name);
      done += 1;
      clear();
      console.log(describe(result));
      if (result.reason) console.log(`${nameSources(result.output).trimEnd()}\n`);
      draw();
    },
    finish: clear,
  };
}
