import type { Server } from '@hapi/hapi';
import type { Firehose } from '../service.ts';
import { tellPages } from './live.ts';
import { PAGE_PATH } from './query.ts';
import { signalsPage } from './routes.ts';

/** The page of public signals, and what it is told while it is open. */
export function registerPage(server: Server, firehose: Firehose): void {
  firehose.civic.pages.navigation({ text: 'navigation.signals', path: PAGE_PATH, order: 30 });
  firehose.civic.whenComposed(() => server.route(signalsPage(firehose)));
  tellPages(firehose.civic, firehose.log);
}
