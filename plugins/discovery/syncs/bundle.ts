import { isBoom } from '@hapi/boom';
import { checkBody, jsonTextFault, problem } from 'civic';
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { createCutter, type Piece } from './cutter.ts';
import { MEMBERS, MOST_ENTRIES, MOST_SOURCES, syncEntry, syncHeader, syncSource, type SyncEntry, type SyncHeader, type SyncSource } from './schemas.ts';

export const MOST_BYTES = 32 * 1024 * 1024;
const LONGEST_PIECE = 1024 * 1024;
const MOST_VALUES = 20_000;
/** As hapi rejects it in other bodies: assigning such a member would change the prototype of an object. */
const PROTOTYPE = /"(?:_|\\u005f)(?:_|\\u005f)(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006f)(?:t|\\u0074)(?:o|\\u006f)(?:_|\\u005f)(?:_|\\u005f)"\s*:/i;

/** What a local tool sends, or one part of it. */
export interface Bundle {
  header: SyncHeader;
  sources: SyncSource[];
  entries: SyncEntry[];
  /** SHA-256 of the body. */
  hash: string;
}

/** Reads a bundle while it arrives. Throws the problems of other JSON bodies; the rest of the body is then read and ignored, so that the client gets the response. */
export async function readBundle(body: Readable | null): Promise<Bundle> {
  if (!body) throw problem('invalid_request', { detail: 'The body is missing.', errors: [{ pointer: '', detail: 'is missing' }] });
  try {
    return await collect(body);
  } catch (error) {
    body.resume();
    throw explained(error);
  }
}

function explained(error: unknown): unknown {
  const { code = '' } = ((isBoom(error) && error.data) || error) as { code?: string };
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return problem('malformed_body', { detail: 'The body is not UTF-8.' });
  return code.startsWith('Z_') ? problem('malformed_body', { detail: 'The body is not compressed as its Content-Encoding says.' }) : error;
}

async function collect(body: Readable): Promise<Bundle> {
  const cutter = createCutter({ known: MEMBERS, lists: new Set(['sources', 'entries']), longest: LONGEST_PIECE });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const hash = createHash('sha256');
  const members: Record<string, unknown> = {};
  const sources: SyncSource[] = [];
  const entries: SyncEntry[] = [];
  let bytes = 0;

  function take(piece: Piece): void {
    if (piece.index === null) members[piece.name] = parsed(piece);
    else if (piece.name === 'sources') sources.push(checkedItem(piece, syncSource, MOST_SOURCES));
    else entries.push(checkedItem(piece, syncEntry, MOST_ENTRIES));
  }

  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw problem('body_too_large', { detail: `A sync may have up to ${MOST_BYTES / 1024 / 1024} MB: send the entries in parts.` });
    hash.update(chunk);
    cutter.take(decoder.decode(chunk, { stream: true })).forEach(take);
  }
  cutter.take(decoder.decode()).forEach(take);
  cutter.end();
  // The items are checked already.
  const lists = Object.fromEntries(cutter.lists().map((name) => [name, []]));
  const { sources: _sources, entries: _entries, ...header } = checkBody(syncHeader, { ...members, ...lists }) as SyncHeader & { sources: []; entries: [] };
  return { header, sources, entries, hash: hash.digest('hex') };
}

function checkedItem<Item>(piece: Piece, schema: Parameters<typeof checkBody<Item>>[0], most: number): Item {
  const { name, index } = piece;
  if (index! >= most) throw problem('invalid_request', { detail: `/${name} has more than ${most} items: send them in parts.`, errors: [{ pointer: `/${name}`, detail: `has more than ${most} items` }] });
  return checkBody<Item>(schema, parsed(piece), [name, index!]);
}

function parsed({ name, index, text }: Piece): unknown {
  const where = index === null ? `/${name}` : `/${name}/${index}`;
  const fault = jsonTextFault(text, MOST_VALUES) ?? (PROTOTYPE.test(text) ? 'has a member __proto__' : null);
  if (fault) throw problem('malformed_body', { detail: `${where} ${fault}.` });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw problem('malformed_body', { detail: `${where} is not valid JSON: ${(error as Error).message}.` });
  }
}
