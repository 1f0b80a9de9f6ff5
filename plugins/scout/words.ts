/** Returns rows with their columns lined up. */
export function columns(rows: string[][]): string {
  const widths = rows.reduce<number[]>((found, row) => row.map((cell, at) => Math.max(found[at] ?? 0, cell.length)), []);
  return rows.map((row) => row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at]!))).join('  ').trimEnd()).join('\n');
}

/** Returns a time without its seconds, as `2026-02-01 14:30`, in UTC. */
export function shortTime(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}

// What pages state may contain characters that a terminal acts upon.
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu;

/** Returns a text of a page as one line that is safe to print. */
export function plain(text: string): string {
  return text.replace(CONTROLS, ' ').replace(/\s+/g, ' ').trim();
}

/** Breaks a text into lines of a width, each after an indentation. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const room = Math.max(20, width - indent.length);
  const lines: string[] = [];
  let line = '';
  for (const word of plain(text).split(' ')) {
    const next = line === '' ? word : `${line} ${word}`;
    if (next.length <= room) {
      line = next;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (line.length > room) {
      lines.push(line.slice(0, room));
      line = line.slice(room);
    }
  }
  if (line !== '') lines.push(line);
  return lines.map((one) => indent + one);
}

/** Returns the value of a claim as words. */
export function valueWords(value: unknown): string {
  if (typeof value !== 'object' || value === null) return plain(String(value));
  const { role, name, network, url, scheme, value: inner } = value as Record<string, unknown>;
  const parts = [role, name, network, url, scheme, inner].filter((part) => typeof part === 'string' && part !== '') as string[];
  return plain(parts.join(role && name ? ', ' : ' ') || JSON.stringify(value));
}
