import type { OpenApi } from '../../contracts/openapi.ts';
import { callOf, KEY_VARIABLE, needsCaller, type Located } from './call.ts';
import { assignment, curl, extraction } from './shell.ts';
import type { Example, ExampleValue } from './types.ts';

/** An example as the page prints it. */
export interface PrintedExample {
  title?: string;
  script: string;
  /** The shell variables that the reader sets first. */
  variables: { name: string; description?: string }[];
  /** Whether the script reads responses with jq. */
  usesJq: boolean;
  needs?: string;
  manual?: string;
  /** Whether the values are placeholders, because the operation has no example or no data for it. */
  isSample: boolean;
}

export interface ScriptContext {
  api: OpenApi;
  /** By operation, such as `GET /api/entities/{id}`. */
  operations: Map<string, Located>;
  examples: Map<string, Example[]>;
}

interface Steps {
  lines: string[];
  /** Variables that have a value. */
  known: Set<string>;
  /** The operations whose examples are being printed, the outermost first; finds examples that need themselves. */
  path: string[];
  variables: Map<string, string | undefined>;
}

/** Returns the commands of an example: first those whose responses it uses, then its own. */
export function printExample(context: ScriptContext, name: string, example: Example, isSample = false): PrintedExample {
  const steps: Steps = { lines: [], known: new Set(), path: [name], variables: new Map() };
  addValues(context, name, example, steps);
  const located = context.operations.get(name)!;
  const script = [...steps.lines, curl(callOf(context.api, located, example))].join('\n');
  return {
    title: example.title,
    script,
    variables: [...steps.variables].map(([variable, description]) => ({ name: variable, description })),
    usesJq: steps.lines.length > 0,
    needs: example.needs,
    manual: example.manual,
    isSample,
  };
}

function addValues(context: ScriptContext, name: string, example: Example, steps: Steps): void {
  const { operation } = context.operations.get(name)!;
  const isNamed = Object.keys(example.headers ?? {}).some((header) => header.toLowerCase() === 'authorization');
  if (needsCaller(operation) && !isNamed) steps.variables.set(KEY_VARIABLE, undefined);
  for (const [variable, description] of Object.entries(example.variables ?? {})) steps.variables.set(variable, description);
  for (const [variable, value] of Object.entries(example.given ?? {})) {
    if (steps.known.has(variable)) continue;
    steps.known.add(variable);
    if (value.of.startsWith('$')) steps.lines.push(extraction(variable, value.of, value.take ?? '.id'));
    else addRequest(context, variable, value, steps);
  }
}

function addRequest(context: ScriptContext, variable: string, { of, take = '.id', body, headers }: ExampleValue, steps: Steps): void {
  const located = context.operations.get(of);
  const [first] = context.examples.get(of) ?? [];
  if (!located || !first) throw new Error(`The example of ${steps.path.at(-1)} takes $${variable} from ${of}, which has no example`);
  if (steps.path.includes(of)) throw new Error(`The example of ${steps.path[0]} needs itself`);
  const example = { ...first, ...(body !== undefined && { body }), headers: { ...first.headers, ...headers } };
  addValues(context, of, example, { ...steps, path: [...steps.path, of] });
  steps.lines.push(assignment(variable, callOf(context.api, located, example), take));
}
