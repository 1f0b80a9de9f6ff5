import { slowness } from 'civic/testing';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

/** An event as a browser would hand it on, and the last `retry` before it. */
export interface SseEvent {
  id: string;
  event: string;
  data: any;
  retry: number | null;
}

/** Takes text in pieces and answers the events that are whole, by the rules of the HTML standard. */
export function sseParser(): (text: string) => SseEvent[] {
  let rest = '';
  let isFirst = true;
  let id = '';
  let [event, data, retry] = ['', [] as string[], null as number | null];

  function take(line: string, into: SseEvent[]): void {
    if (line === '') {
      if (data.length > 0) into.push({ id, event: event || 'message', data: JSON.parse(data.join('\n')), retry });
      [event, data, retry] = ['', [], data.length > 0 ? null : retry];
      return;
    }
    const [, name, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
    if (name === 'data') data.push(value ?? '');
    if (name === 'event') event = value ?? '';
    if (name === 'id' && !value?.includes('\0')) id = value ?? '';
    if (name === 'retry' && /^\d+$/.test(value ?? '')) retry = Number(value);
  }

  return (text) => {
    rest += isFirst ? text.replace(/^\uFEFF/, '') : text;
    isFirst = false;
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    const events: SseEvent[] = [];
    for (const line of lines) take(line, events);
    return events;
  };
}

export interface Stream {
  status: number;
  headers: IncomingHttpHeaders;
  /** All that came, in order. */
  events: SseEvent[];
  /** The body as it came. */
  text(): string;
  /** The next event that nobody took. */
  next(): Promise<SseEvent>;
  /** The next signal; heartbeats are passed over. */
  signal(): Promise<SseEvent>;
  signals(count: number): Promise<SseEvent[]>;
  /** All that come until the server ends the stream. */
  rest(): Promise<SseEvent[]>;
  isOpen(): boolean;
  /** When the server has ended it. */
  ended(): Promise<void>;
  close(): void;
}

const PATIENCE_MS = 10_000 * slowness;

/** Asks for a stream over a connection of its own; answers once the headers are there. */
export function openStream(url: string, headers: Record<string, string> = {}): Promise<Stream> {
  return new Promise((opened, failed) => {
    const request = httpRequest(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false }, (response) => { opened(streamOf(response)); });
    request.on('error', failed);
    request.end();
  });
}

function streamOf(response: IncomingMessage): Stream {
  const parse = sseParser();
  const events: SseEvent[] = [];
  let text = '';
  let taken = 0;
  let isOpen = true;
  let wake = (): void => undefined;
  response.setEncoding('utf8');
  response.on('data', (piece: string) => {
    text += piece;
    if (response.statusCode === 200) events.push(...parse(piece));
    wake();
  });
  response.on('close', () => { isOpen = false; wake(); });
  response.on('error', () => undefined);

  async function until(isDone: () => boolean, what: string): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while (!isDone()) {
      const left = end - performance.now();
      if (left <= 0) throw new Error(`${what} did not come within ${PATIENCE_MS / 1000} s, but: ${text.slice(-2000)}`);
      await new Promise<void>((done) => {
        const timer = setTimeout(done, left);
        wake = () => { clearTimeout(timer); done(); };
      });
    }
  }

  async function next(): Promise<SseEvent> {
    await until(() => events.length > taken || !isOpen, 'The next event');
    const event = events[taken++];
    if (!event) throw new Error(`The stream has ended after: ${text.slice(-2000)}`);
    return event;
  }

  async function signal(): Promise<SseEvent> {
    const event = await next();
    return event.event === 'firehose.signal' ? event : signal();
  }

  return {
    status: response.statusCode!,
    headers: response.headers,
    events,
    text: () => text,
    next,
    signal,
    async signals(count) {
      const found: SseEvent[] = [];
      while (found.length < count) found.push(await signal());
      return found;
    },
    async rest() {
      await until(() => !isOpen, 'The end');
      return events.slice(taken);
    },
    isOpen: () => isOpen,
    ended: () => until(() => !isOpen, 'The end'),
    close: () => { response.destroy(); },
  };
}
