/** Returns a whole, unmasked text message of a WebSocket (RFC 6455), created once for all clients that get it. */
export function textFrame(text: string): Buffer {
  const data = Buffer.from(text);
  if (data.length < 126) return Buffer.concat([Buffer.from([0x81, data.length]), data]);
  const header = Buffer.alloc(data.length < 65_536 ? 4 : 10);
  header[0] = 0x81;
  if (data.length < 65_536) {
    header[1] = 126;
    header.writeUInt16BE(data.length, 2);
  } else {
    header[1] = 127;
    header.writeBigUInt64BE(BigInt(data.length), 2);
  }
  return Buffer.concat([header, data]);
}
