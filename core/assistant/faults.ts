import type { ObjectSchema, Schema } from 'joi';
import { isSchema, membersOf } from '../contracts/schema.ts';
import type { Vocabulary } from '../vocabulary.ts';
import type { OwnedPrompt, OwnedResource, OwnedTool, Prompt, Resource, Tool } from './types.ts';

const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const URI = /^[a-z][a-z0-9+.-]*:\/\/[^\s{}]+(?:\{[a-z_]+\}[^\s{}]*)*$/;
const WRITES = /:(?:write|review)$/;

const filled = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

/** Returns what is wrong with a tool, a sentence each. */
export function toolFaults(tool: Tool): string[] {
  const { name, title, description, readOnly, destructive, scope, input, output, run } = tool;
  const faults = [
    !NAME.test(name) && 'its name is not in snake_case, at most 64 characters',
    !filled(title) && 'it has no title',
    !filled(description) && 'it has no description',
    typeof readOnly !== 'boolean' && 'it does not declare readOnly',
    typeof destructive !== 'boolean' && 'it does not declare destructive',
    readOnly && destructive && 'it is readOnly and destructive, which exclude each other',
    readOnly && scope !== undefined && WRITES.test(scope) && `it is readOnly, but asks for the scope ${scope}`,
    !isObject(input) && 'its input is not a Joi object',
    !isObject(output) && 'its output is not a Joi object',
    typeof run !== 'function' && 'it has no run(input, call)',
    ...undescribed(input).map((member) => `its argument ${member} has no description`),
  ];
  return faults.filter((fault) => typeof fault === 'string');
}

export function resourceFaults({ uri, name, title, description, read }: Resource): string[] {
  const faults = [
    !URI.test(uri) && 'its uri is not a URI such as civic://notes/{id}',
    !filled(name) && 'it has no name',
    !filled(title) && 'it has no title',
    !filled(description) && 'it has no description',
    typeof read !== 'function' && 'it has no read(variables, call)',
  ];
  return faults.filter((fault) => typeof fault === 'string');
}

export function promptFaults({ name, title, description, arguments: given, text }: Prompt): string[] {
  const faults = [
    !NAME.test(name) && 'its name is not in snake_case, at most 64 characters',
    !filled(title) && 'it has no title',
    !filled(description) && 'it has no description',
    !isObject(given) && 'its arguments are not a Joi object',
    typeof text !== 'function' && 'it has no text(given)',
    ...undescribed(given).map((member) => `its argument ${member} has no description`),
    ...(isObject(given) ? [...membersOf(given)] : []).filter(([, schema]) => schema.type !== 'string').map(([member]) => `its argument ${member} is not a text, and clients send nothing else`),
  ];
  return faults.filter((fault) => typeof fault === 'string');
}

/** Names that no running plugin declares: the tool could never be called. */
export function undeclaredNames(one: Pick<OwnedTool | OwnedResource | OwnedPrompt, 'plugin'> & { scope?: string; plan?: string }, { scopes, capabilities }: Vocabulary): string[] {
  const faults = [
    one.scope !== undefined && !scopes.has(one.scope) && `it asks for the scope "${one.scope}", which no plugin that runs declares`,
    one.plan !== undefined && !capabilities.has(one.plan) && `it asks for the capability "${one.plan}", which no plugin that runs declares`,
  ];
  return faults.filter((fault) => typeof fault === 'string');
}

function isObject(schema: unknown): schema is ObjectSchema {
  return isSchema(schema) && (schema as Schema).type === 'object';
}

function undescribed(schema: unknown): string[] {
  if (!isObject(schema)) return [];
  return [...membersOf(schema)].filter(([, member]) => !member.$_getFlag('description')).map(([name]) => name);
}
