import { FetchError, type Civic } from 'civic';
import type { ReaderConfig } from '../config.ts';
import type { Hosts } from '../fetch/hosts.ts';
import { createPlaces } from '../fetch/places.ts';
import { Refusal } from '../fetch/refusal.ts';
import { isOverloaded, retryAfterMs } from '../fetch/retry.ts';
import { chosenChromium, startChromium } from './chromium.ts';
import { RenderError } from './error.ts';
import { renderPage, type PageInput, type Rendered } from './render.ts';
import type { Load } from './requests.ts';

export interface Browser {
  /** Whether a browser is installed and allowed. */
  isAvailable(): boolean;
  /** Renders a page, by default one at a time in this process. Throws a `RenderError`, a `Refusal` when too many pages wait, and the reason when it is aborted. */
  render(page: PageInput, signal?: AbortSignal): Promise<Rendered>;
  /** Ends the browsers that run. */
  stop(): Promise<void>;
}

/** So many pages may wait for the browser: each has a place among the jobs of the network. */
const MOST_WAITING = 2;
const RETRY_MS = 120_000;

export function createBrowser(civic: Civic<ReaderConfig>, hosts: Hosts): Browser {
  const { config, clock } = civic;
  const places = createPlaces(config.browser_concurrency);
  const running = new Set<Promise<unknown>>();
  let waiting = 0;
  const stopping = new AbortController();

  async function render(page: PageInput, signal?: AbortSignal): Promise<Rendered> {
    const release = await turn(signal);
    const end = new AbortController();
    const onAbort = () => end.abort(signal!.reason);
    const onStop = () => end.abort(new FetchError('unreachable', 'The page was not rendered: this process is stopping.'));
    signal?.addEventListener('abort', onAbort);
    stopping.signal.addEventListener('abort', onStop);
    if (stopping.signal.aborted) onStop();
    const work = rendered(page, end);
    running.add(work);
    try {
      return await work;
    } finally {
      running.delete(work);
      signal?.removeEventListener('abort', onAbort);
      stopping.signal.removeEventListener('abort', onStop);
      release();
    }
  }

  /** Waits for the browser. Times to try again differ, so that pages that were refused do not come back together. */
  async function turn(signal: AbortSignal | undefined): Promise<() => void> {
    const busy = () => new Refusal('browser_busy', 'Other pages wait for the browser; this one is read later.', clock.now() + RETRY_MS * (1 + Math.random()));
    if (waiting >= MOST_WAITING) throw busy();
    waiting++;
    try {
      return await places.take('browser', 1000 * config.longest_wait_seconds, busy, signal);
    } finally {
      waiting--;
    }
  }

  async function rendered(page: PageInput, end: AbortController): Promise<Rendered> {
    const { path } = chosenChromium(config);
    if (path === null) throw new RenderError('render_failed', 'No browser is installed any more.');
    end.signal.throwIfAborted();
    const chromium = await startChromium(path, { sandbox: config.browser_sandbox });
    try {
      end.signal.addEventListener('abort', () => chromium.fail(end.signal.reason));
      end.signal.throwIfAborted();
      return await renderPage(chromium, page, guarded(page, end.signal), config.browser_seconds);
    } finally {
      // Also ends requests that the page still waits for.
      end.abort();
      await chromium.close();
    }
  }

  /** Requests what a page needs: each address, also after a redirect, is checked as that of a page is. Only the origin of the page gets a rest: what others respond may be what the page provoked. */
  function guarded(page: PageInput, signal: AbortSignal): Load {
    const { origin } = new URL(page.url);
    return async (url, { max_bytes = config.max_bytes, admit, ...request }) => {
      const beforeRequest = (next: URL) => {
        admit(next);
        return hosts.permit(next);
      };
      const response = await civic.fetch(url, { ...request, max_bytes: Math.min(max_bytes, config.max_bytes), timeout_seconds: config.timeout_seconds, beforeRequest, signal });
      if (new URL(response.url).origin === origin) await hosts.note(origin, { isOverloaded: isOverloaded(response.status), retryAfterMs: retryAfterMs(response.headers['retry-after'], clock.now()) });
      return response;
    };
  }

  return {
    isAvailable: () => chosenChromium(config).path !== null,
    render,
    async stop() {
      stopping.abort();
      await Promise.allSettled(running);
    },
  };
}
