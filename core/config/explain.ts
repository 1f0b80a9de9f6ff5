import type Joi from 'joi';
import { descriptionAt, expected, isRequired } from './format.ts';
import { nearest } from './nearest.ts';
import type { ConfigOption } from './types.ts';
import { printable } from './yaml.ts';

/** What is being explained: a value that did not fit, and how it was given. */
export interface Misfit {
  path: string;
  option: ConfigOption;
  /** What the whole option wants. */
  schema: Joi.Description;
  detail: Joi.ValidationErrorItem;
  /** The variable or argument it came from; undefined for the file. */
  outside?: string;
  /** A secret, or filled from one: never shown. */
  isHidden: boolean;
}

const WORDED = /^(\w+\.base|any\.(only|invalid)|alternatives\..*|number\.(min|max|integer|port|infinity)|string\.(empty|ip\w*|uri\w*|email|pattern\.name))$/;

function shown(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'empty' : `the text ${JSON.stringify(printable(value.length > 60 ? `${value.slice(0, 60)}…` : value))}`;
  if (typeof value === 'number') return `the number ${value}`;
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'a map' : String(value);
}

/** The path of what is wrong, which may lie inside a list or map. */
export function fullPath(path: string, inner: (string | number)[]): string {
  return path + inner.map((step) => (typeof step === 'number' ? `[${step}]` : `.${printable(step)}`)).join('');
}

export function explain(misfit: Misfit): { message: string; hint?: string } {
  const { detail, isHidden, schema, option } = misfit;
  const path = fullPath(misfit.path, detail.path);
  const value: unknown = detail.context?.value;
  if (detail.type === 'object.unknown') return { message: `${path} is not known`, hint: keyHint(schema, detail) };
  if (detail.type === 'any.required') return { message: `${path} is missing` };
  if (value === null && detail.path.length === 0) return { message: `${path} has no value`, hint: emptyHint(option, schema) };
  if (detail.type === 'any.custom' && !isHidden) return { message: `${path}: ${printable(detail.context!.error.message)}` };
  const wanted = descriptionAt(schema, detail.path) ?? schema;
  const isWorded = isHidden || WORDED.test(detail.type) || wanted.flags !== undefined && 'description' in wanted.flags;
  const must = isWorded ? `must be ${expected(wanted)}` : detail.message;
  return { message: `${path} ${must}${isHidden ? ' (what was given may be a secret, so it is not shown)' : `, but it is ${shown(value)}`}`, hint: valueHint(misfit, wanted, value) };
}

function keyHint(schema: Joi.Description, { path }: Joi.ValidationErrorItem): string | undefined {
  const keys = Object.keys(descriptionAt(schema, path.slice(0, -1))?.keys ?? {});
  const near = nearest(String(path.at(-1)), keys);
  return near ? `did you mean ${near}?` : keys.length > 0 ? `known here: ${keys.join(', ')}` : undefined;
}

function emptyHint(option: ConfigOption, schema: Joi.Description): string {
  return isRequired(option) ? `write ${expected(schema)}` : `leave the line out for the default, ${JSON.stringify(option.default)}`;
}

/** The right way to write what was probably meant. */
function valueHint({ outside, isHidden, detail }: Misfit, wanted: Joi.Description, value: unknown): string | undefined {
  const text = typeof value === 'string' ? value : '';
  if (wanted.flags !== undefined && 'only' in wanted.flags) {
    const near = isHidden ? undefined : nearest(String(value), (wanted.allow ?? []).filter((one: unknown) => one !== null).map(String));
    return near && `did you mean ${near}?`;
  }
  if (wanted.type === 'boolean' && /^(yes|y|on|true|1)$/i.test(String(value))) return 'write true';
  if (wanted.type === 'boolean' && /^(no|n|off|false|0)$/i.test(String(value))) return 'write false';
  if (wanted.type === 'number' && outside === undefined && /^-?\d+(\.\d+)?$/.test(text)) return `write it without quotes${isHidden ? '' : `: ${text}`}`;
  if (detail.type === 'string.base' && outside === undefined && ['number', 'boolean'].includes(typeof value)) return `put it in quotes${isHidden ? '' : `: "${String(value)}"`}`;
  if (wanted.type === 'array' && text) {
    const list = isHidden ? '["…"]' : printable(JSON.stringify(text.split(',').map((item) => item.trim())));
    return outside === undefined ? `write it as a list: ${list}` : `write it as JSON: ${outside}='${list}'`;
  }
  if (wanted.type === 'object' && text && outside !== undefined) return `write it as JSON: ${outside}='{"key": "value"}'`;
  return undefined;
}
