import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { Joi, textEtag, type Civic, type PageContext, type Texts } from 'civic';
import type { DirectoryService } from 'civic/directory';
import type { FirehoseService } from 'civic/firehose';
import type { SiteConfig } from './config.ts';

/** What the pages share. */
export interface Site {
  civic: Civic<SiteConfig>;
  directory: DirectoryService;
  firehose: FirehoseService | null;
  /** Returns the route of a page, which the response cache of the directory serves to anonymous visitors. */
  page(page: SitePage): ServerRoute;
}

export interface SitePage {
  path: string;
  /** The schema of each query parameter. Other parameters are ignored. */
  query?: Record<string, Joi.Schema>;
  /** Reads what the page shows, or returns a response such as a redirect. Throws a problem when there is nothing to show. */
  load(request: Request, t: Texts, h: ResponseToolkit): Promise<LoadedPage | ResponseObject>;
}

export interface LoadedPage {
  /** The name of the template: `place` is `templates/place.html`. */
  template: string;
  context: PageContext;
  /** When the page expires although no data changed, in milliseconds since the epoch, such as the start of the next meeting. */
  validUntil?: number;
}

/** Every public change of the directory invalidates the responses with this tag. */
const CHANGES = 'all';
/** Every public signal invalidates the responses with this tag. Pages have it, responses of the API do not. */
const SIGNALS = 'signals';
/** The directory invalidates the responses with this tag when meetings of other plugins change, also without a signal. */
const MEETINGS = 'meetings';
const HTML = 'text/html; charset=utf-8';

export function createSite(civic: Civic<SiteConfig>): Site {
  const directory = civic.service('directory');
  const firehose = civic.serviceIfOn('firehose');
  firehose?.onPublicSignals(() => directory.responses.touch([SIGNALS]));

  async function show({ load }: SitePage, request: Request, h: ResponseToolkit): Promise<ResponseObject | symbol> {
    const t = await civic.texts(request.civic.language);
    if (!isShared(request)) {
      const loaded = await load(request, t, h);
      return 'template' in loaded ? h.view(`site/${loaded.template}`, loaded.context) : loaded;
    }
    return directory.responses.answer(request, h, CHANGES, async () => {
      const loaded = await load(request, t, h);
      if (!('template' in loaded)) return loaded;
      const { body, headers } = await civic.pages.render(request, `site/${loaded.template}`, loaded.context);
      return { body, headers, etag: textEtag(body), type: HTML, cacheControl: 'no-cache', validUntil: loaded.validUntil, tags: [SIGNALS, MEETINGS] };
    });
  }

  return {
    civic, directory, firehose,
    page: (page) => ({
      method: 'GET',
      path: page.path,
      options: {
        plugins: { civic: { internal: true } },
        validate: { query: querySchema(page.query ?? {}) },
        ext: { onPostAuth: { method: directory.responses.hit } },
      },
      handler: (request, h) => show(page, request, h),
    }),
  };
}

/** Returns the schema of a query. A parameter without a value counts as missing: forms send their empty fields. */
function querySchema(parameters: Record<string, Joi.Schema>): Joi.ObjectSchema {
  return Joi.object(Object.fromEntries(Object.entries(parameters).map(([name, schema]) => [name, schema.empty('')]))).options({ stripUnknown: true });
}

/** Returns whether the response can be cached for all anonymous visitors. An address with ignored parameters is not: their number is unlimited. */
function isShared({ auth, civic, query, url }: Request): boolean {
  return !auth.isAuthenticated && civic.formToken === null && [...url.searchParams.keys()].every((name) => name !== 'limit' && Object.hasOwn(query, name));
}
