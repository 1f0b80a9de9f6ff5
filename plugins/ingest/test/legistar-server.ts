import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LegistarEvent {
  EventId: number;
  EventDate: string;
  EventItems: { EventItemId: number; Votes: object[] }[] | null;
}

export interface LegistarServer {
  /** Of its events. */
  url: string;
  requests: string[];
  show(events: LegistarEvent[]): void;
  close(): Promise<void>;
}

const MOST_ROWS = 1000;
const FILTER = /^EventDate ge datetime'(\d{4}-\d\d-\d\d)'$/;

/** A server in the shape of the Legistar Web API: lists come in pages with empty `EventItems`, agendas and votes have addresses of their own, and votes without a roll call fail. */
export async function openLegistar(): Promise<LegistarServer> {
  const requests: string[] = [];
  let events: LegistarEvent[] = [];

  function respond(response: ServerResponse, status: number, value: unknown): void {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value));
  }

  function eventsPage(query: URLSearchParams): object[] {
    const since = FILTER.exec(query.get('$filter') ?? '')?.[1] ?? '';
    const skip = Number(query.get('$skip') ?? 0);
    const matching = events.filter(({ EventDate }) => EventDate >= since).toSorted((a, b) => a.EventId - b.EventId);
    return matching.slice(skip, skip + Math.min(MOST_ROWS, Number(query.get('$top') ?? MOST_ROWS))).map((event) => ({ ...event, EventItems: [] }));
  }

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://legistar');
    requests.push(pathname);
    const [, id, list] = /^\/v1\/city\/(?:events|eventitems)\/(\d+)\/(eventitems|votes)$/.exec(pathname) ?? [];
    if (pathname === '/v1/city/events') return respond(response, 200, eventsPage(searchParams));
    if (list === 'eventitems') return respond(response, 200, events.find(({ EventId }) => EventId === Number(id))?.EventItems?.map(({ Votes: _, ...item }) => item) ?? []);
    if (list !== 'votes') return respond(response, 404, { Message: 'No HTTP resource was found' });
    const votes = events.flatMap(({ EventItems }) => EventItems ?? []).find(({ EventItemId }) => EventItemId === Number(id))?.Votes ?? [];
    return votes.length > 0 ? respond(response, 200, votes) : respond(response, 500, { Message: 'An error has occurred.' });
  });
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/city/events`,
    requests,
    show(next) { events = next; },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => { server.close(done); });
    },
  };
}
