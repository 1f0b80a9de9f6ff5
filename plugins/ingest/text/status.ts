import type { MeetingRow } from '../adapters/types.ts';
import { saysCancelled } from './cancelled.ts';

export type MeetingStatus = MeetingRow['status'];

const TENTATIVE = /\btentative(?:ly)?\b|\bunconfirmed\b|\bto be confirmed\b/i;

/** Returns the status that the words of a text state. */
export function statusOf(...texts: (string | null | undefined)[]): MeetingStatus {
  const text = texts.filter(Boolean).join(' \n ').slice(0, 2000);
  if (saysCancelled(text)) return 'cancelled';
  return TENTATIVE.test(text) ? 'tentative' : 'confirmed';
}

/** Returns the status of a value such as `CANCELLED`, `EventPostponed` or `Scheduled`; null for other words. */
export function statusOfValue(value: unknown): MeetingStatus | null {
  const word = String(value ?? '').toLowerCase();
  if (/cancel|postpone|deferred/.test(word)) return 'cancelled';
  if (/tentative/.test(word)) return 'tentative';
  return /confirm|schedul|passed|reconven|recess/.test(word) ? 'confirmed' : null;
}

/** Removes words of a status from a title: `CANCELLED - Board Meeting`. */
export function withoutStatus(title: string): string {
  const rest = title.replace(/^\W{0,3}(?:cancel(?:l?ed|lation)|postponed|deferred|tentative)\b\W{0,4}|\W{0,4}\b(?:cancel(?:l?ed|lation)|postponed|deferred|tentative)\W{0,3}$/gi, '').trim();
  return rest === '' || rest === title || statusOf(title) === 'confirmed' ? title : rest;
}
