import type { ServerRoute } from '@hapi/hapi';
import { atomFeed, escapeMarkup, isId, isWebUrl, Joi, problem, tagUri, writableText, type FeedEntry, type Texts } from 'civic';
import type { Workspaces } from '../context.ts';
import { PRIVATE } from '../records/routes.ts';
import { readLatest, type DigestItem } from './digest.ts';
import { targetWords } from './words.ts';
import type { Watches } from './watches.ts';

const NEWEST = 50;
const TYPE = 'application/atom+xml';

export function feedPath(workspaceId: string): string {
  return `/api/workspaces/${workspaceId}/feed.atom`;
}

/** Returns the route of private feeds. Feed readers send no key: the secret in the address is the credential. */
export function feedRoutes({ civic }: Workspaces, watches: Watches): ServerRoute[] {
  return [{
    method: 'GET',
    path: feedPath('{id}'),
    options: {
      description: 'What your watches found, as a private Atom feed',
      notes: 'Create the address on the page of the watches. `token` is its secret; anyone with the address can read the feed until it is revoked. Unknown query parameters are ignored, as feed readers add their own.',
      validate: { query: Joi.object({ token: Joi.string().max(200).description('The secret of the feed') }).unknown(), params: Joi.object({ id: Joi.string() }) },
      plugins: { civic: { produces: [TYPE], headers: ['Cache-Control'], problems: ['unknown_feed'] } },
      response: { status: { 200: true as never } },
    },
    handler: (request, h) => civic.db.snapshot(async (tx) => {
      const id = String(request.params.id).toLowerCase();
      const found = isId(id) ? await watches.subscribers.byFeed(tx, id, String((request.query as { token?: string }).token ?? '')) : null;
      const context = found && await watches.subscribers.contextOfSubscriber(tx, found);
      if (!context) throw problem('unknown_feed', { headers: { 'cache-control': PRIVATE } });
      const t = await civic.texts(found.language);
      const items = await readLatest(watches, tx, context, found, NEWEST);
      const home = civic.url(`/workspaces/${id}/digest`);
      const title = t('feed.title', { workspace: context.workspace.name, site: civic.instance.name });
      const body = atomFeed({
        id: tagUri(civic.url(feedPath(id))), title, description: t('feed.description'), self: civic.url(feedPath(id)), home,
        author: { name: civic.instance.name, url: civic.url('/') }, entries: items.map((item) => entryOf(item, t)),
      });
      return h.response(body).type(`${TYPE}; charset=utf-8`).header('cache-control', PRIVATE).header('x-robots-tag', 'noindex');
    }),
  }];
}

function entryOf({ signal, watches, matched_at }: DigestItem, t: Texts): FeedEntry {
  const { id, title, summary, detected_at: detected, evidence, type, places, issues } = signal;
  const because = t('watch_mail.because', { target: targetWords(watches[0]!.target, t), others: watches.length - 1 });
  const sources = evidence.map(({ source_url: url, title: name }) => ({ url, title: name ?? url }));
  const links = sources.map(({ url, title: name }) => `<li>${isWebUrl(url) ? `<a href="${escapeMarkup(url)}">${escapeMarkup(name)}</a>` : escapeMarkup(name)}</li>`);
  return {
    id: `urn:uuid:${id}`, title, url: evidence[0]!.source_url, published: detected, updated: matched_at, summary,
    html: `${summary ? `<p>${escapeMarkup(summary)}</p>` : ''}<p>${escapeMarkup(because)}</p><ul>${links.join('')}</ul>`,
    text: writableText([summary, because, ...sources.map(({ url }) => url)].filter(Boolean).join('\n')),
    categories: [type, ...places, ...issues].map((term) => ({ term })), sources,
  };
}
