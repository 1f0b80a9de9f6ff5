import type { Check, CheckResult } from 'civic';
import type { ReaderConfig } from '../config.ts';
import { chosenChromium, startChromium } from './chromium.ts';

const WITHOUT = 'pages that need scripts are not read';
const NOT_USED: Record<'off' | 'not_found' | 'not_there' | 'root', (config: ReaderConfig) => CheckResult> = {
  off: () => ({ status: 'ok', detail: `${WITHOUT}: browser_fallback_enabled is false` }),
  not_found: () => ({ status: 'ok', detail: `${WITHOUT}: no Chromium was found; to read them, install the package chromium, or set plugins.reader.browser_path` }),
  not_there: ({ browser_path }) => ({ status: 'warning', detail: `${WITHOUT}: ${browser_path} is no program that can be run`, fix: 'install Chromium, and set plugins.reader.browser_path to it, or remove the option' }),
  root: () => ({
    status: 'warning', detail: `${WITHOUT}: the sandbox of the browser does not work for root`,
    fix: 'run the server as another user; or set plugins.reader.browser_sandbox to false, where nothing else is on the machine; or browser_fallback_enabled to false',
  }),
};

/** Starts the browser once. */
export function browserCheck(config: ReaderConfig): Check {
  return {
    name: 'browser',
    async run() {
      const { path, missing } = chosenChromium(config);
      if (missing) return NOT_USED[missing](config);
      const chromium = await startChromium(path, { sandbox: config.browser_sandbox });
      const timer = setTimeout(() => chromium.fail(new Error('it does not respond')), 1000 * config.browser_seconds);
      try {
        const { product } = await chromium.send('Browser.getVersion');
        return { status: 'ok', detail: `pages that need scripts are read with ${product}, ${config.browser_sandbox ? 'in its sandbox' : 'without its sandbox'}` };
      } catch (error) {
        return {
          status: 'warning', detail: `${WITHOUT}: ${path} does not start: ${(error as Error).message}`,
          fix: `run ${path} --headless --dump-dom about:blank as the user of the server, and see what it prints; where its sandbox cannot work, as in most containers, set plugins.reader.browser_sandbox to false`,
        };
      } finally {
        clearTimeout(timer);
        await chromium.close();
      }
    },
  };
}
