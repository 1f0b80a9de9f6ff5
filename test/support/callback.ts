import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An app on this computer that waits for the browser to come back. */
export interface CallbackApp {
  url: string;
  /** The address that the browser came back to last; null before. */
  arrived: URL | null;
  close(): void;
}

/** What the page of the app shows. */
export const BACK = 'Back in the app';

export async function startCallback(): Promise<CallbackApp> {
  const server = createServer((request, response) => {
    if (request.url!.startsWith('/callback')) app.arrived = new URL(request.url!, app.url);
    response.setHeader('content-type', 'text/html').end(`<title>App</title><h1>${BACK}</h1>`);
  });
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
  const app: CallbackApp = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`, arrived: null, close: () => { server.close(); server.closeAllConnections(); } };
  return app;
}
