import { Joi, type ConfigFragment } from 'civic';

export interface ReaderConfig {
  delay_seconds: number;
  longest_delay_seconds: number;
  per_host: number;
  longest_wait_seconds: number;
  timeout_seconds: number;
  max_bytes: number;
  fetch_days: number;
  archive_days: number;
  index_pages: number;
  browser_fallback_enabled: boolean;
  browser_path: string | null;
  browser_sandbox: boolean;
  browser_seconds: number;
  max_browser_renders_per_run: number;
  browser_concurrency: number;
}

const seconds = (least: number, most: number) => Joi.number().min(least).max(most) as never;
const whole = (least: number, most: number) => Joi.number().integer().min(least).max(most) as never;

export const readerOptions: ConfigFragment = {
  delay_seconds: { doc: 'How many seconds to wait between two requests to one host, unless its robots.txt asks for more.', format: seconds(0, 600), default: 1 },
  longest_delay_seconds: { doc: 'The longest Crawl-delay of a robots.txt that is followed, in seconds; a longer one is shortened to this.', format: seconds(1, 3600), default: 30 },
  per_host: { doc: 'How many requests to one host may be under way at once in this process.', format: whole(1, 16), default: 1 },
  longest_wait_seconds: { doc: 'How many seconds a read waits for its turn at a host; after that it is put off.', format: seconds(1, 600), default: 30 },
  timeout_seconds: { doc: 'How many seconds one read may take, redirects included, without the waits for hosts.', format: seconds(1, 600), default: 30 },
  max_bytes: { doc: 'The largest page or file that is read, in bytes.', format: whole(1024, 104_857_600), default: 10_485_760 },
  fetch_days: { doc: 'How many days the records of reads are kept.', format: whole(1, 3650), default: 90 },
  archive_days: { doc: 'How many days an archived content is kept that no evidence refers to, after a later read replaced it or its page was read for the last time.', format: whole(1, 3650), default: 30 },
  index_pages: { doc: 'How many archived pages the full-text index has at most; those that were read longest ago are removed.', format: whole(0, 1_000_000), default: 10_000 },
  browser_fallback_enabled: { doc: 'Whether pages that have no text without their scripts are read with Chromium, where it is installed.', format: Boolean, default: true },
  browser_path: { doc: 'The Chromium or Chrome that is used, as an absolute path; by default one of PATH.', format: String, default: null, nullable: true },
  browser_sandbox: { doc: 'Whether the browser isolates its pages from this machine. That does not work for root and in most containers: there it is false, or no browser is used.', format: Boolean, default: true },
  browser_seconds: { doc: 'How many seconds the browser may take for one page.', format: seconds(1, 120), default: 20 },
  browser_concurrency: { doc: 'How many pages the browser of this process reads at once; each takes some 300 MB.', format: whole(1, 8), default: 1 },
  max_browser_renders_per_run: { doc: 'How many pages one run, such as a read of a watched source, may read with the browser.', format: whole(0, 1000), default: 8 },
};
