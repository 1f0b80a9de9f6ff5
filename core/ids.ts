import { randomFillSync } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

// Random bytes are drawn in bulk: one call to the system serves 256 ids.
const pool = Buffer.alloc(10 * 256);
let used = pool.length;

/** A new UUID v7 (RFC 9562): sorts by the time it was made. */
export function newId(now: number = Date.now()): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.toString('hex', used, used + 10);
  used += 10;
  const time = now.toString(16).padStart(12, '0');
  const variant = (0x8 | (parseInt(random[3]!, 16) & 0x3)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}

/** Any UUID of RFC 9562, upper case too. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}
