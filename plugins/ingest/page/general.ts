import type { FoundTime } from '../text/times.ts';
import { addressIn, isPlace, isAddress, labelledPlace, placeInSentence, cleanPlace } from '../text/places.ts';
import type { Line } from './lines.ts';

/** What a page states for all its meetings: `All meetings are held at 9 am at City Hall.` */
export interface General {
  time: FoundTime | null;
  place: string | null;
  /** `Chicago Plan Commission` of `Chicago Plan Commission meetings are held on …`. */
  body: string | null;
}

const RULE = /\b(?:meetings?|committee|commission|board|council)\b.{0,160}\b(?:(?:are|will be|is) (?:\w+ )?(?:held|scheduled)|meets?|begins?|starts?|(?:will )?(?:\w+ )?occur)\b|^\W{0,3}(?:time|hora|held)\b|^meetings? (?:are|will)/i;
const EXCEPTION = /\b(?:next|following|special|annual|rescheduled|february|january|march|april|june|july|august|september|october|november|december) (?:\w+ ){0,3}meeting\b|\b(?:register|registration|comment|speak|deadline|office hours?)\b/i;
const BODY = /((?:[A-Z][\w&.'’#-]*|\d+)(?:\s(?:of|and|the|on|for|&|[A-Z#][\w&.'’#-]*|\d+)){0,9})\s(?:board\s)?meetings\b/;

/** Reads the sentences that hold for all meetings of a page. Two different times or places hold for none. */
export function generalOf(lines: Line[], isTaken: (at: number) => boolean): General {
  const times = new Map<string, FoundTime>();
  const places = new Set<string>();
  let body: string | null = null;
  for (const [at, line] of lines.entries()) {
    if (!line.isMain || isTaken(at)) continue;
    const label = placeAfterLabel(lines, at);
    if (label) places.add(label);
    if (line.dates.length > 0 || EXCEPTION.test(line.text) || !RULE.test(line.text.slice(0, 600))) continue;
    for (const time of line.times) times.set(`${time.hour}:${time.minute}`, time);
    const place = placeInSentence(line.text) ?? addressIn(line.text);
    if (place) places.add(place);
    body ??= BODY.exec(line.text.slice(0, 300))?.[1]?.replace(/^(?:All|The|Regular|Unless otherwise announced,)\s+/, '') ?? null;
  }
  return { time: times.size === 1 ? [...times.values()][0]! : null, place: onlyPlace(places), body: body !== null && /\s/.test(body) ? body : null };
}

function onlyPlace(places: Set<string>): string | null {
  const [first = null, ...others] = places;
  return others.every((other) => first!.includes(other) || other.includes(first!)) ? first : null;
}

/** Returns the place after `Location:` on the line or on the lines below it; at the line of the label only. */
export function placeAfterLabel(lines: Line[], at: number): string | null {
  const line = lines[at]!;
  const rest = labelledPlace(line.text);
  if (rest === null || line.isProse) return null;
  const parts = rest ? [rest] : [];
  for (let next = at + 1; next < Math.min(lines.length, at + 5); next++) {
    const { text, dates, times, level } = lines[next]!;
    const isFirst = parts.length === 0;
    if (text.length > 120 || dates.length > 0 || times.length > 0 || level !== null && next > at + 1 || /:\s*$/.test(text)) break;
    if (isFirst || isPlace(text) || isAddress(text)) parts.push(text);
    else break;
  }
  const place = cleanPlace(parts.join(', '));
  return place.length > 2 && /\p{L}{2}|\d/u.test(place) ? place : null;
}
