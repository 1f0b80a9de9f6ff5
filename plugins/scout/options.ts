import { homedir } from 'node:os';
import { join } from 'node:path';
import { Joi, type ConfigFragment } from 'civic';

/** The settings of scout, as its config file states them. */
export interface Settings {
  data_dir: string;
  instance: { url: string | null };
  scraper: {
    browser_fallback_enabled: boolean;
    max_browser_renders_per_run: number;
    max_browser_concurrent: number;
    browser_path: string | null;
    browser_sandbox: boolean;
    max_concurrent_fetches: number;
    request_delay_ms: number;
    respect_robots: boolean;
    allow_private_addresses: boolean;
    user_agent: string | null;
  };
  model: { url: string; name: string; api_key: string };
}

const whole = (least: number, most: number) => Joi.number().integer().min(least).max(most) as never;
const address = Joi.string().uri({ scheme: ['http', 'https'] }).description('an address such as https://civic.example.org') as never;

export function options(env: NodeJS.ProcessEnv): ConfigFragment {
  return {
    data_dir: { doc: 'The folder of the database and of the sign-in.', format: 'path', default: join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'scout') },
    instance: {
      url: { doc: 'The Civic instance to which reviewed entries are sent.', format: address, nullable: true, default: null },
    },
    scraper: {
      browser_fallback_enabled: { doc: 'Whether pages that have no text without their scripts are read with Chromium, where it is installed.', format: Boolean, default: true },
      max_browser_renders_per_run: { doc: 'How many pages one run may read with the browser.', format: whole(0, 1000), default: 8 },
      max_browser_concurrent: { doc: 'How many pages the browser may read at once.', format: whole(1, 8), default: 1 },
      browser_path: { doc: 'The Chromium or Chrome that is used, as an absolute path; by default one of PATH.', format: String, nullable: true, default: null },
      browser_sandbox: { doc: 'Whether the browser isolates its pages from this machine. That does not work for root and in most containers.', format: Boolean, default: true },
      max_concurrent_fetches: { doc: 'How many pages of different hosts are read at once.', format: whole(1, 16), default: 4 },
      request_delay_ms: { doc: 'How many milliseconds to wait between two requests to one host, unless its robots.txt asks for more.', format: whole(0, 600_000), default: 1000 },
      respect_robots: { doc: 'Whether robots.txt is obeyed. With false, pages that it excludes are read too: only for sites whose owner allowed it.', format: Boolean, default: true },
      allow_private_addresses: { doc: 'Whether pages on this machine and on private networks are read.', format: Boolean, default: false },
      user_agent: { doc: 'The User-Agent header of requests; null is Civic with its version.', format: String, nullable: true, default: null },
    },
    model: {
      url: { doc: 'The address of a language model for names that rules do not find, before /chat/completions, such as http://localhost:11434/v1; empty uses none. The text of public pages is sent to it.', format: Joi.string().uri({ scheme: ['http', 'https'] }).allow('') as never, default: '' },
      name: { doc: 'The name of the model on that server.', format: Joi.string().max(200).allow('') as never, default: '' },
      api_key: { doc: 'The key of that server, if it asks for one.', format: Joi.string().max(500).allow('') as never, default: '', sensitive: true },
    },
  };
}

export const questions = [{ path: 'instance.url', text: 'The Civic instance to send entries to, such as https://civic.example.org (empty: decide later):' }];

/** Returns the configuration of the kit: only the plugins that research needs, and no server. */
export function kit({ data_dir, instance, scraper, model }: Settings): object {
  return {
    name: 'Scout',
    data_dir,
    log: { level: 'warn' },
    http: { fetch: { allow_private_addresses: scraper.allow_private_addresses, user_agent: scraper.user_agent } },
    plugins: {
      directory: {},
      reader: {
        delay_seconds: scraper.request_delay_ms / 1000,
        browser_fallback_enabled: scraper.browser_fallback_enabled,
        max_browser_renders_per_run: scraper.max_browser_renders_per_run,
        browser_concurrency: scraper.max_browser_concurrent,
        browser_path: scraper.browser_path,
        browser_sandbox: scraper.browser_sandbox,
      },
      discovery: { model, pages_at_once: scraper.max_concurrent_fetches },
      scout: { instance, respect_robots: scraper.respect_robots },
    },
  };
}
