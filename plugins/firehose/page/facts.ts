import { cutText, parseUrl, type Texts } from 'civic';
import type { ObjectSchema } from 'joi';
import type { Signal } from '../types.ts';
import { isOpaque, nameWords } from './words.ts';

export interface ShownFact {
  label: string;
  text: string;
  /** When the fact is an address. */
  href: string | null;
  /** It does not fit beside others. */
  isLong: boolean;
}

interface Labels {
  label: string;
  unit: string;
  /** Of the members of an object. */
  members: ObjectSchema | null;
}

const MOST_FACTS = 12;
const MOST_CHARACTERS = 200;
const MOST_BESIDE = 36;

/** Writes a value that is no list and no object; '' when it is not for reading. */
type Write = (value: unknown) => string;

/** Returns the facts of a signal for reading, labelled by their schema; by their names when the plugin that declares them is off. */
export function shownFacts({ facts = {} }: Pick<Signal, 'facts'>, schema: ObjectSchema | null, t: Texts, timeZone: string | undefined): ShownFact[] {
  const write: Write = (value) => plainText(value, t, timeZone);
  return Object.entries(facts).flatMap(([name, value]) => {
    const labels = labelsOf(name, schema);
    const text = textOf(value, labels, write);
    return text === '' ? [] : [{ label: labels.label, text, href: isAddress(value) ? value : null, isLong: text.length > MOST_BESIDE }];
  }).slice(0, MOST_FACTS);
}

function labelsOf(name: string, schema: ObjectSchema | null): Labels {
  const keys: { key: string; schema: ObjectSchema }[] = schema?.$_terms['keys'] ?? [];
  const member = keys.find(({ key }) => key === name)?.schema ?? null;
  const flag = (which: string): string | undefined => member?.$_getFlag(which);
  return { label: flag('label') ?? flag('description') ?? nameWords(name), unit: flag('unit') ?? '', members: member };
}

function textOf(value: unknown, { unit, members }: Labels, write: Write): string {
  const text = Array.isArray(value) ? value.map(write).filter(Boolean).join(', ') : isPlain(value) ? membersText(value, members, write) : write(value);
  const short = cutText(text, MOST_CHARACTERS);
  return short && unit ? `${short} ${unit}` : short;
}

function membersText(value: object, schema: ObjectSchema | null, write: Write): string {
  return Object.entries(value).flatMap(([name, inner]) => {
    const { label, unit } = labelsOf(name, schema);
    const text = textOf(inner, { label, unit, members: null }, write);
    return text === '' ? [] : [`${label.charAt(0).toLowerCase()}${label.slice(1)} ${text}`];
  }).join(', ');
}

function plainText(value: unknown, t: Texts, timeZone: string | undefined): string {
  if (typeof value === 'boolean') return value ? t('facts.yes') : t('facts.no');
  if (typeof value === 'number') return t.formatNumber(value);
  if (typeof value !== 'string' || isOpaque(value)) return '';
  return momentText(value, t, timeZone) ?? (isAddress(value) ? addressText(value) : value);
}

/** A date, or a time to the minute. */
function momentText(text: string, t: Texts, timeZone: string | undefined): string | null {
  const [, time] = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? [null];
  if (time === null || Number.isNaN(Date.parse(text))) return null;
  return time === undefined ? t.formatDate(text) : `${t.formatDate(text, timeZone)}, ${t.formatHour(text, timeZone)}`;
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//.test(value) && parseUrl(value) !== null;
}

function addressText(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host.replace(/^www\./, '')}${pathname === '/' ? '' : pathname}`;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
