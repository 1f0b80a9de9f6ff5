import type { Request } from '@hapi/hapi';
import { problem } from '../problems.ts';

interface Range {
  type: string;
  subtype: string;
  q: number;
}

const RANGE = /^\s*([!#$%&'*+.^_`|~0-9a-z-]+)\/([!#$%&'*+.^_`|~0-9a-z-]+)\s*(;.*)?$/i;
const QUALITY = /;\s*q\s*=\s*("?)(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\1\s*(?:;|$)/i;

/** The offered media type that an Accept header prefers: the first one on a tie, null when it wants none of them. */
export function preferredType(accept: string | undefined, offered: string[]): string | null {
  if (accept === undefined || accept.trim() === '') return offered[0] ?? null;
  const ranges = accept.split(',').map(readRange).filter((range) => range !== null);
  let best: string | null = null;
  let bestQuality = 0;
  for (const type of offered) {
    const quality = qualityOf(type, ranges);
    if (quality > bestQuality) [best, bestQuality] = [type, quality];
  }
  return best;
}

/** The same for a request; 406 naming what there is when nothing suits. */
export function negotiate(request: Request, offered: string[]): string {
  const accept = request.headers['accept'] as string | undefined;
  const type = preferredType(accept, offered);
  if (type !== null) return type;
  throw problem('not_acceptable', { detail: `This is given as ${offered.join(' or ')}, not as ${accept}.`, headers: { accept: offered.join(', ') } });
}

function readRange(text: string): Range | null {
  const [, type, subtype, parameters = ''] = RANGE.exec(text) ?? [];
  if (type === undefined || subtype === undefined || (type === '*' && subtype !== '*')) return null;
  const hasQuality = /;\s*q\s*=/i.test(parameters);
  const quality = QUALITY.exec(parameters)?.[2];
  if (hasQuality && quality === undefined) return null;
  return { type: type.toLowerCase(), subtype: subtype.toLowerCase(), q: quality === undefined ? 1 : Number(quality) };
}

/** The quality the most specific matching range gives; 0 when none matches. */
function qualityOf(offered: string, ranges: Range[]): number {
  const [type, subtype] = offered.split('/');
  const exact = ranges.filter((range) => range.type === type && range.subtype === subtype);
  const family = ranges.filter((range) => range.type === type && range.subtype === '*');
  const any = ranges.filter((range) => range.type === '*');
  const deciding = [exact, family, any].find((group) => group.length > 0) ?? [];
  return Math.max(0, ...deciding.map((range) => range.q));
}
