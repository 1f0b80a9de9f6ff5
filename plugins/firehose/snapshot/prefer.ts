import { problem } from 'civic';

export interface Preferences {
  /** Seconds; null when not asked for. */
  wait: number | null;
  return: 'minimal' | 'representation' | null;
}

export const LONGEST_WAIT = 30;

// What is quoted may hold commas and semicolons; what is never closed goes to the end, so that nobody looks for its end twice.
const MEMBER = /(?:"(?:\\.?|[^"\\])*(?:"|$)|[^,"])+/gs;
// Of text without long gaps, each of which it would cross again from every place in it.
const PREFERENCE = /^\s*([^\s=;]+)\s*(?:=\s*("(?:\\.|[^"\\])*"|[^;]*?))?\s*(?:;.*)?$/s;

/** Reads a Prefer header (RFC 7240): what is not known is ignored, the first of a preference counts. */
export function readPreferences(header: string | undefined): Preferences {
  const found = new Map<string, string>();
  for (const member of header?.match(MEMBER) ?? []) {
    const [, name, value = ''] = PREFERENCE.exec(member.replaceAll(/\s+/g, ' ')) ?? [];
    if (name && !found.has(name.toLowerCase())) found.set(name.toLowerCase(), value.replaceAll('"', ''));
  }
  const returns = found.get('return');
  return { wait: waitOf(found.get('wait')), return: returns === 'minimal' || returns === 'representation' ? returns : null };
}

function waitOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d+$/.test(text)) throw problem('invalid_preference', { detail: `Prefer: wait=${text.slice(0, 50)} is not a whole number of seconds.` });
  const seconds = Number(text);
  if (seconds > LONGEST_WAIT) {
    throw problem('wait_too_long', { detail: `Waits of up to ${LONGEST_WAIT} seconds are supported, not of ${text.slice(0, 50)}.`, headers: { 'retry-after': String(LONGEST_WAIT) } });
  }
  return seconds;
}
