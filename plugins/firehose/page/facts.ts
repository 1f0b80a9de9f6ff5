import { parseUrl } from 'civic';
import type { ObjectSchema } from 'joi';
import type { Signal } from '../types.ts';
import { nameWords } from './words.ts';

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
const DATE = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

/** Returns the facts of a signal for reading, labelled by their schema; by their names when the plugin that declares them is off. */
export function shownFacts({ facts = {} }: Pick<Signal, 'facts'>, schema: ObjectSchema | null): ShownFact[] {
  return Object.entries(facts).flatMap(([name, value]) => {
    const labels = labelsOf(name, schema);
    const text = textOf(value, labels);
    return text === '' ? [] : [{ label: labels.label, text, href: isAddress(value) ? value : null, isLong: text.length > MOST_BESIDE }];
  }).slice(0, MOST_FACTS);
}

function labelsOf(name: string, schema: ObjectSchema | null): Labels {
  const keys: { key: string; schema: ObjectSchema }[] = schema?.$_terms['keys'] ?? [];
  const member = keys.find(({ key }) => key === name)?.schema ?? null;
  const flag = (which: string): string | undefined => member?.$_getFlag(which);
  return { label: flag('label') ?? flag('description') ?? nameWords(name), unit: flag('unit') ?? '', members: member };
}

function textOf(value: unknown, { unit, members }: Labels): string {
  const text = Array.isArray(value) ? value.map(plainText).filter(Boolean).join(', ') : isPlain(value) ? membersText(value, members) : plainText(value);
  const short = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
  return short && unit ? `${short} ${unit}` : short;
}

function membersText(value: object, schema: ObjectSchema | null): string {
  return Object.entries(value).flatMap(([name, inner]) => {
    const { label, unit } = labelsOf(name, schema);
    const text = textOf(inner, { label, unit, members: null });
    return text === '' ? [] : [`${label.charAt(0).toLowerCase()}${label.slice(1)} ${text}`];
  }).join(', ');
}

function plainText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'number') return value.toLocaleString('en', { maximumFractionDigits: 6 });
  if (typeof value !== 'string') return '';
  return momentText(value) ?? (isAddress(value) ? addressText(value) : value);
}

/** A date, or a time to the minute. */
function momentText(text: string): string | null {
  const [, time] = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? [null];
  if (time === null || Number.isNaN(Date.parse(text))) return null;
  const date = new Date(text);
  return time === undefined ? DATE.format(date) : `${DATE.format(date)}, ${date.toISOString().slice(11, 16)} UTC`;
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
