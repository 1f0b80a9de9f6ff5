/** A server-sent event as it came. */
export interface ServerEvent {
  event: string;
  id: string | null;
  data: string;
}

/** An event may not be longer than this; signals are a fraction of it. */
const MOST_CHARACTERS = 1_000_000;

/** Takes a stream of bytes apart into events (WHATWG, server-sent events). Answers those that a piece completes. */
export function createEventReader(): (piece: Uint8Array) => ServerEvent[] {
  const decoder = new TextDecoder();
  let rest = '';
  let size = 0;
  let fields: { event: string; id: string | null; data: string[] } = { event: 'message', id: null, data: [] };

  function line(text: string): ServerEvent | null {
    if (text === '') {
      const { event, id, data } = fields;
      fields = { event: 'message', id: null, data: [] };
      size = 0;
      return data.length === 0 ? null : { event, id, data: data.join('\n') };
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(text)!;
    if (name === 'event') fields.event = value;
    if (name === 'id') fields.id = value;
    if (name === 'data') fields.data.push(value);
    size += text.length;
    return null;
  }

  return (piece) => {
    const lines = (rest + decoder.decode(piece, { stream: true })).split(/\r\n|\n/);
    rest = lines.pop()!;
    const events = lines.flatMap((text) => line(text) ?? []);
    if (size + rest.length > MOST_CHARACTERS) throw new Error('An event of the stream does not end');
    return events;
  };
}
