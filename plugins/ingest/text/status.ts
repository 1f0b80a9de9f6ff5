import type { MeetingRow } from '../adapters/types.ts';

export type MeetingStatus = MeetingRow['status'];

const CANCELLED = /\bcancel(?:l?ed|lation)\b|\bpostponed\b|\bno (?:regular |board |committee |commission )?meetings?\b(?! (?:minutes|agenda|notes|materials))|\bwill not (?:be held|meet)\b|\bnot be held\b|\bcancelad[ao]\b|\bpospuest[ao]\b/i;
const TENTATIVE = /\btentative(?:ly)?\b|\bunconfirmed\b|\bto be confirmed\b/i;
/** A policy or a link about cancellations is no cancellation. */
const ABOUT = /\bcancellation (?:policy|deadline|fee)\b|\b(?:if|unless|when|may be) (?:\w+ ){0,4}cancel/i;

/** Returns the status that the words of a text state. */
export function statusOf(...texts: (string | null | undefined)[]): MeetingStatus {
  const text = texts.filter(Boolean).join(' \n ').slice(0, 2000);
  if (CANCELLED.test(text) && !ABOUT.test(text)) return 'cancelled';
  return TENTATIVE.test(text) ? 'tentative' : 'confirmed';
}

/** Returns the status of a value such as `CANCELLED`, `EventPostponed` or `Scheduled`; null for other words. */
export function statusOfValue(value: unknown): MeetingStatus | null {
  const word = String(value ?? '').toLowerCase();
  if (/cancel|postpone/.test(word)) return 'cancelled';
  if (/tentative/.test(word)) return 'tentative';
  return /confirm|schedul|passed|reconven|recess/.test(word) ? 'confirmed' : null;
}

/** Removes words of a status from a title: `CANCELLED - Board Meeting`. */
export function withoutStatus(title: string): string {
  return title.replace(/^\W{0,3}(?:cancel(?:l?ed|lation)|postponed|tentative)\b\W{0,4}|\W{0,4}\b(?:cancel(?:l?ed|lation)|postponed|tentative)\W{0,3}$/gi, '').trim() || title;
}
