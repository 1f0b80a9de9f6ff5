/** A time of day in a text, or the first time of a range. */
export interface FoundTime {
  start: number;
  end: number;
  hour: number;
  minute: number;
  /** The end of a range such as `6 to 8 pm`. */
  until: { hour: number; minute: number } | null;
}

// Some pages write 3:oo or 3:pm; "530pm" occurs in forms.
const CLOCK = '(\\d{1,2})(?:[:.]?([0-5o][0-9o]))?:?';
const HALF = '([ap])\\.?\\s?m\\b\\.?';
const TIME = new RegExp(`(?<![\\d:.$#])${CLOCK}(?:\\s{0,2}${HALF})?(?:\\s{0,2}(?:-|–|—|to|until)\\s{0,2}${CLOCK}\\s{0,2}${HALF})?(?!\\d|:\\d)|\\b(noon|midnight)\\b`, 'gi');

/** Returns the times of a text that name a half of the day, or are noon or midnight. */
export function findTimes(text: string): FoundTime[] {
  const found: FoundTime[] = [];
  for (const match of text.matchAll(TIME)) {
    const time = timeOf(match);
    if (time && !isPartOfWord(text, match.index)) found.push(time);
  }
  return found;
}

function timeOf(match: RegExpExecArray): FoundTime | null {
  const [whole, hours, minutes, half, untilHours, untilMinutes, untilHalf, word] = match;
  const range = { start: match.index, end: match.index + whole.length };
  if (word) return { ...range, hour: word.toLowerCase() === 'noon' ? 12 : 0, minute: 0, until: null };
  if (!hours || !(half ?? untilHalf)) return null;
  const until = untilHours && untilHalf ? clock(untilHours, untilMinutes, untilHalf) : null;
  let from = clock(hours, minutes, half ?? untilHalf!);
  // "11 - 1 pm" begins in the morning.
  if (from && until && !half && from.hour > until.hour) from = clock(hours, minutes, 'a');
  // "12:00 noon" is one time.
  return from ? { ...range, ...from, until } : null;
}

function clock(hours: string, minutes: string | undefined, half: string): { hour: number; minute: number } | null {
  const hour = Number(hours);
  const minute = Number((minutes ?? '0').replaceAll(/o/gi, '0'));
  if (hour < 1 || hour > 12 || minute > 59) return null;
  return { hour: hour % 12 + (half.toLowerCase() === 'p' ? 12 : 0), minute };
}

/** A case number such as 23-0305 P.M. is no time; neither is a time inside a word. */
function isPartOfWord(text: string, start: number): boolean {
  const before = text[start - 1] ?? ' ';
  return /[a-z]/i.test(before) && /\d/.test(text[start]!) && !/(?:^|[^a-z])[a-z]{3}$/i.test(text.slice(Math.max(0, start - 4), start));
}
