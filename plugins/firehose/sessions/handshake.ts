import type { Request } from '@hapi/hapi';
import { problem } from 'civic';

export const SUBPROTOCOL = 'service.firehose.v1';

const KEY = /^[+/0-9A-Za-z]{22}==$/;

/** Refuses a handshake that cannot succeed, while the answer can still say why. */
export function checkHandshake({ headers }: Request): void {
  if (!KEY.test(String(headers['sec-websocket-key']))) throw problem('invalid_header', { detail: 'Sec-WebSocket-Key must be 16 bytes in base64.' });
  if (headers['sec-websocket-version'] !== '13') throw problem('upgrade_required', { detail: 'Only version 13 of WebSocket is spoken here.', headers: { upgrade: 'websocket', connection: 'upgrade', 'sec-websocket-version': '13' } });
  const asked = String(headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  if (!asked.includes(SUBPROTOCOL)) throw problem('subprotocol_required', { detail: `Ask for the subprotocol ${SUBPROTOCOL} in Sec-WebSocket-Protocol.` });
  // What `ws` could not read, it would refuse in words of its own.
  if (asked.some((name) => !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) || new Set(asked).size < asked.length) throw problem('invalid_header', { detail: 'Sec-WebSocket-Protocol must be a list of different names.' });
}

/** Whether a browser sent this from a page of another site. */
export function isForeign({ headers }: Request, publicUrl: string): boolean {
  const origin = headers['origin'] as string | undefined;
  return origin !== undefined && origin !== new URL(publicUrl).origin;
}
