import { setTimeout as sleep } from 'node:timers/promises';
import type { Chromium } from './chromium.ts';
import { RenderError } from './error.ts';
import { createRequests, type Load, type PausedRequest, type Reply } from './requests.ts';

/** A page without requests for so long has shown what it shows. */
const QUIET_MS = 1000;
const STEP_MS = 50;
const START_MS = 20_000;
/** After the time of a page, for reading its HTML. */
const SNAPSHOT_MS = 2000;
const MOST_HTML = 5_000_000;

/** WebRTC sends datagrams past each proxy. */
const FIRST_SCRIPT = 'delete globalThis.RTCPeerConnection; delete globalThis.webkitRTCPeerConnection;';
const SNAPSHOT = `(() => { const html = document.documentElement?.outerHTML ?? ''; return { url: location.href, html: html.length > ${MOST_HTML} ? null : html }; })()`;

export interface PageInput {
  url: string;
  content_type: string;
  body: Uint8Array;
}

export interface Rendered {
  /** Scripts may have changed it. */
  url: string;
  html: string;
  /** Of the responses that the page requested. */
  bytes: number;
}

/** Shows a page in a browser, and returns its HTML once it is quiet or its time is over. Throws a `RenderError`. */
export async function renderPage(chromium: Chromium, input: PageInput, load: Load, seconds: number): Promise<Rendered> {
  const { call, attempt, targetId, listen } = await within(START_MS, openPage(chromium), 'The browser did not start in time.');
  const requests = createRequests(load, { url: input.url.replace(/#.*/s, ''), status: 200, headers: { 'content-type': input.content_type }, body: input.body }, targetId);
  const state = { open: 0, isReady: false, hasCrashed: false, changedAt: performance.now() };

  async function onRequest(paused: PausedRequest): Promise<void> {
    state.open++;
    const reply = await requests.reply(paused).catch(() => null);
    state.open--;
    state.changedAt = performance.now();
    if (reply) attempt('Fetch.fulfillRequest', { requestId: paused.requestId, ...encoded(reply) });
    else attempt('Fetch.failRequest', { requestId: paused.requestId, errorReason: 'AccessDenied' });
  }

  listen((method, params) => {
    if (method === 'Fetch.requestPaused') void onRequest(params as PausedRequest);
    else if (method === 'Page.javascriptDialogOpening') attempt('Page.handleJavaScriptDialog', { accept: true });
    else if (method === 'Page.frameNavigated' && (params as NavigatedFrame).frame.id === targetId) state.isReady = false;
    // A download ends the parsing of the page that starts it.
    else if (method === 'Page.domContentEventFired' || method === 'Page.downloadWillBegin') Object.assign(state, { isReady: true, changedAt: performance.now() });
    else if (method === 'Inspector.targetCrashed') state.hasCrashed = true;
  });
  const endsAt = performance.now() + seconds * 1000;
  attempt('Page.navigate', { url: input.url });
  const isQuiet = () => state.isReady && state.open === 0 && (requests.isSpent() || performance.now() - state.changedAt > QUIET_MS);
  while (!isQuiet() && performance.now() < endsAt && !state.hasCrashed) await Promise.race([sleep(STEP_MS), chromium.failed]);
  if (state.hasCrashed) throw new RenderError('render_failed', 'The page crashed the browser, or took too much memory.');
  const { url, html } = await within(Math.max(0, endsAt - performance.now()) + SNAPSHOT_MS, snapshot(call, targetId), 'The scripts of the page did not end in time.');
  if (html === null) throw new RenderError('too_large', `The page has more than ${MOST_HTML} characters once its scripts ran.`);
  if (!/^https?:/.test(url)) throw new RenderError('render_failed', 'The scripts of the page led to an address that cannot be read.');
  return { url, html: `<!DOCTYPE html>${html}`, bytes: requests.bytes() };
}

interface NavigatedFrame {
  frame: { id: string };
}

type Call = (method: string, params?: object) => Promise<any>;

/** Opens an empty page whose requests are intercepted. */
async function openPage({ send, listen }: Chromium) {
  const { browserContextId } = await send('Target.createBrowserContext');
  const { targetId } = await send('Target.createTarget', { url: 'about:blank', browserContextId });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  const call: Call = (method, params) => send(method, params, sessionId);
  await Promise.all([
    call('Fetch.enable', { patterns: [{ urlPattern: '*' }] }),
    call('Page.enable'),
    call('Inspector.enable'),
    call('Page.addScriptToEvaluateOnNewDocument', { source: FIRST_SCRIPT }),
    // Frames and workers that have a process or thread of their own stay paused: nothing intercepts what they request.
    call('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }),
    send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId }),
  ]);
  return {
    targetId: String(targetId),
    call,
    /** The page may be gone before it gets what it asked for. */
    attempt: (method: string, params: object) => void call(method, params).catch(() => {}),
    listen: (onEvent: (method: string, params: object) => void) => listen(({ method, params, sessionId: session }) => { if (session === sessionId) onEvent(method, params); }),
  };
}

/** Reads the page in a world of its own, where the page cannot replace what is called. */
async function snapshot(call: Call, frameId: string): Promise<{ url: string; html: string | null }> {
  const { executionContextId } = await call('Page.createIsolatedWorld', { frameId });
  const { result } = await call('Runtime.evaluate', { expression: SNAPSHOT, returnByValue: true, contextId: executionContextId });
  return result.value;
}

async function within<T>(milliseconds: number, work: Promise<T>, message: string): Promise<T> {
  const late = new AbortController();
  try {
    return await Promise.race([work, sleep(milliseconds, undefined, late).then(() => { throw new RenderError('too_slow', message); })]);
  } finally {
    late.abort();
  }
}

function encoded({ status, headers, body }: NonNullable<Reply>): object {
  return { responseCode: status, responseHeaders: Object.entries(headers).map(([name, value]) => ({ name, value })), body: Buffer.from(body).toString('base64') };
}
