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
};
