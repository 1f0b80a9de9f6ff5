import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chosenChromium } from '../browser/chromium.ts';

const named = process.env.CIVIC_TEST_CHROMIUM ?? null;
const { path } = chosenChromium({ browser_fallback_enabled: true, browser_path: named, browser_sandbox: false });

/** Returns why there is no Chromium to test with; null when there is one. `CIVIC_REQUIRE_BROWSER=1` makes its absence an error. */
export function missingChromium(): string | null {
  const known = process.env.CIVIC_TEST_BROWSER_MISSING;
  if (path && !known) return null;
  const reason = known ?? 'no Chromium was found: install the package chromium, or name one in CIVIC_TEST_CHROMIUM';
  if (process.env.CIVIC_REQUIRE_BROWSER === '1') throw new Error(reason);
  process.stderr.write(`skipped in the browser: ${reason}\n`);
  return reason;
}

export interface TestChromium {
  path: string;
  /** For files of a test; deleted with it. Its path is short, as that of a folder for browsers must be. */
  folder: string;
  /** The process ids of browsers that this one started; empty when none runs. */
  running(): number[];
  delete(): Promise<void>;
}

/**
 * Writes a program that starts Chromium without its own rule that pages of the web may not reach this machine: what keeps the page from it in tests is what
 * keeps it from the network elsewhere.
 */
export async function openChromium(): Promise<TestChromium> {
  const folder = await mkdtemp('/tmp/civic-chromium-');
  const program = join(folder, 'chromium');
  const features = 'MediaRouter,DialMediaRouteProvider,OptimizationHints,Translate,LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets,LocalNetworkAccessChecksWebTransport,LocalNetworkAccessChecksWebRTC';
  await writeFile(program, `#!/bin/sh\necho $$ >> ${folder}/pids\nexec ${path} "$@" --disable-features=${features}\n`);
  await chmod(program, 0o755);
  return {
    path: program, folder,
    running() {
      const groups = existsSync(`${folder}/pids`) ? readFileSync(`${folder}/pids`, 'utf8').trim().split('\n').map(Number) : [];
      return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => groups.includes(groupOf(pid)));
    },
    delete: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Returns the process group of a process that has not ended; 0 for others. */
function groupOf(pid: number): number {
  try {
    const [state, , group] = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ');
    return state === 'Z' ? 0 : Number(group);
  } catch {
    return 0;
  }
}
