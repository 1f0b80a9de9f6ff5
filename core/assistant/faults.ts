import type { ObjectSchema, Schema } from 'joi';
import { nearest } from '../config/nearest.ts';
import { isSchema, membersOf } from '../contracts/schema.ts';
import type { Vocabulary } from '../vocabulary.ts';
import type { Prompt, Resource, Tool } from './types.ts';

const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const URI = /^[a-z][a-z0-9+.-]*:\/\/[^\s{}]+(?:\{[a-z_]+\}[^\s{}]*)*$/;
const WRITES = /:(?:write|review)$/;

const TOOL_MEMBERS = Object.keys({ name: true, title: true, description: true, readOnly: true, destructive: true, scope: true, plan: true, role: true, input: true, output: true, advice: true, run: true } satisfies Record<keyof Tool, true>);
const RESOURCE_MEMBERS = Object.keys({ uri: true, name: true, title: true, description: true, mimeType: true, scope: true, plan: true, role: true, read: true } satisfies Record<keyof Resource, true>);
const PROMPT_MEMBERS = Object.keys({ name: true, title: true, description: true, arguments: true, text: true } satisfies Record<keyof Prompt, true>);

const ROLES = ['reviewer', 'admin'];

const isName = (name: unknown): boolean => typeof name === 'string' && NAME.test(name);
const isFilled = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

/** Returns the faults of a tool, one clause for each. */
export function toolFaults(tool: Tool): string[] {
  const { name, title, description, readOnly, destructive, scope, role, input, output, run } = tool;
  const faults = [
    !isName(name) && 'its name is not in snake_case, at most 64 characters',
    !isFilled(title) && 'it has no title',
    !isFilled(description) && 'it has no description',
    typeof readOnly !== 'boolean' && 'it does not declare readOnly',
    typeof destructive !== 'boolean' && 'it does not declare destructive',
    readOnly && destructive && 'it is readOnly and destructive, which exclude each other',
    readOnly && scope !== undefined && WRITES.test(scope) && `it is readOnly, but needs the scope ${scope}`,
    isUnknownRole(role) && `its role is "${role}", not reviewer or admin`,
    !isObject(input) && 'its input is not a Joi object',
    !isObject(output) && 'its output is not a Joi object',
    typeof run !== 'function' && 'it has no run(input, call)',
    ...undescribed(input).map((member) => `its argument ${member} has no description`),
    ...unknownMembers(tool, TOOL_MEMBERS),
  ];
  return faults.filter((fault) => typeof fault === 'string');
}

export function resourceFaults(resource: Resource): string[] {
  const { uri, name, title, description, role, read } = resource;
  const faults = [
    !URI.test(uri) && 'its uri is not a URI such as civic://notes/{id}',
    !isFilled(name) && 'it has no name',
    !isFilled(title) && 'it has no title',
    !isFilled(description) && 'it has no description',
    isUnknownRole(role) && `its role is "${role}", not reviewer or admin`,
    typeof read !== 'function' && 'it has no read(variables, call)',
    ...unknownMembers(resource, RESOURCE_MEMBERS),
  ];
  return faults.filter((fault) => typeof fault === 'string');
}

export function promptFaults(prompt: Prompt): string[] {
  const { name, title, description, arguments: given, text } = prompt;
  const faults = [
    !isName(name) && 'its name is not in snake_case, at most 64 characters',
    !isFilled(title) && 'it has no title',
    !isFilled(description) && 'it has no description',
    !isObject(given) && 'its arguments are not a Joi object',
    typeof text !== 'function' && 'it has no text(given)',
    ...undescribed(given).map((member) => `its argument ${member} has no description`),
    ...membersIn(given).filter(([, schema]) => schema.type !== 'string').map(([member]) => `its argument ${member} is not a string, and clients send only strings`),
    ...unknownMembers(prompt, PROMPT_MEMBERS),
  ];
  return faults.filter((fault) => typeof fault === 'string');
}

/** Returns a fault for each name that no running plugin declares: no caller could have the scope or the capability. */
export function undeclaredNames({ scope, plan }: Pick<Tool, 'scope' | 'plan'>, { scopes, capabilities }: Vocabulary): string[] {
  const faults = [
    scope !== undefined && !scopes.has(scope) && `it needs the scope "${scope}", which no plugin that runs declares`,
    plan !== undefined && !capabilities.has(plan) && `it needs the capability "${plan}", which no plugin that runs declares`,
  ];
  return faults.filter((fault) => typeof fault === 'string');
}

/** A role that does not exist has no rank, so every caller would pass. */
function isUnknownRole(role: unknown): boolean {
  return role !== undefined && !ROLES.includes(role as string);
}

/** A misspelt `scope` would leave a tool open to every caller. */
function unknownMembers(declared: object, known: string[]): string[] {
  return Object.keys(declared).filter((member) => !known.includes(member)).map((member) => {
    const near = nearest(member, known);
    return `it has a member "${member}", which is not known${near ? `: did you mean "${near}"?` : ''}`;
  });
}

function isObject(schema: unknown): schema is ObjectSchema {
  return isSchema(schema) && (schema as Schema).type === 'object';
}

function membersIn(schema: unknown): [string, Schema][] {
  return isObject(schema) ? [...membersOf(schema)] : [];
}

function undescribed(schema: unknown): string[] {
  return membersIn(schema).filter(([, member]) => !member.$_getFlag('description')).map(([name]) => name);
}
