import { lazily, type Fetch } from 'civic';
import type { Robot } from 'robots-parser';

const loadParser = lazily(async () => (await import('robots-parser')).default as unknown as (url: string, text: string) => Robot);

/** The largest robots.txt that is obeyed, as RFC 9309 requires at least; what follows is ignored. */
const MAX_BYTES = 512_000;
const TIMEOUT_SECONDS = 10;
const MOST_LINE = 1000;
const MOST_LINES = 5000;
const MOST_ADDRESS = 2000;

/** `missing` allows everything; `failing`, when the server responds with an error, and `unreachable`, when it does not respond, allow nothing. */
export type RobotsStatus = 'read' | 'missing' | 'failing' | 'unreachable';

export interface Robots {
  status: RobotsStatus;
  text: string | null;
}

/** Reads the robots.txt of an origin as RFC 9309 describes: without one everything is allowed, but nothing while the server fails. */
export async function readRobots(fetch: Fetch, origin: string): Promise<Robots> {
  try {
    const response = await fetch(`${origin}/robots.txt`, { max_bytes: 10 * MAX_BYTES, timeout_seconds: TIMEOUT_SECONDS });
    if (response.status >= 500 || response.status === 429) return { status: 'failing', text: null };
    if (response.status !== 200) return { status: 'missing', text: null };
    return { status: 'read', text: boundedText(new TextDecoder().decode(response.body.subarray(0, MAX_BYTES))) };
  } catch (error) {
    if ((error as { code?: string }).code === 'address_refused') throw error;
    return { status: 'unreachable', text: null };
  }
}

/** Leaves out lines that are too long to be rules, and NUL, which Postgres does not store: matching takes time in proportion to a rule and an address. */
function boundedText(text: string): string {
  return text.replaceAll('\0', '').split(/\r\n|\r|\n/).filter((line) => line.length <= MOST_LINE).slice(0, MOST_LINES).join('\n');
}

export interface RobotsRules {
  allows(url: string): boolean;
  /** Seconds between two requests that it asks for. */
  delay: number | null;
}

const ALL_ALLOWED: RobotsRules = { allows: () => true, delay: null };

/** Returns the rules of a robots.txt for a product, such as `civic`. */
export async function robotsRules(origin: string, text: string | null, product: string): Promise<RobotsRules> {
  if (text === null || text.trim() === '') return ALL_ALLOWED;
  const parse = await loadParser();
  const robot = parse(`${origin}/robots.txt`, text);
  const delay = Number(robot.getCrawlDelay(product));
  return {
    allows: (url) => robot.isAllowed(url.slice(0, MOST_ADDRESS), product) !== false,
    delay: Number.isFinite(delay) && delay > 0 ? delay : null,
  };
}
