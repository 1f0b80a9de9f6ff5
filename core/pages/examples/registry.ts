import type { Server } from '@hapi/hapi';
import type { OpenApi, Operation } from '../../contracts/openapi.ts';
import { routesWithProtocols } from '../../contracts/route.ts';
import { sampleOf } from '../sample.ts';
import type { Located } from './call.ts';
import { responseTo } from './response.ts';
import { printExample, type PrintedExample, type ScriptContext } from './script.ts';
import type { Example, Examples, ExampleSource } from './types.ts';

export interface ExampleRegistry {
  declare(plugin: string, examples: Examples): void;
  /** Returns what is wrong with the declarations, a sentence each. */
  faults(server: Server): string[];
  /** Returns the examples of all operations by operation id, with current values. */
  print(server: Server, api: OpenApi): Promise<Map<string, ShownExamples>>;
  /** Adds the responses to examples that read public data. */
  addResponses(server: Server, api: OpenApi, printed: Map<string, ShownExamples>): Promise<void>;
}

export interface ShownExamples {
  examples: PrintedExample[];
  /** The first example as it was declared, for the form that sends it. */
  values: Example;
  /** The beginning of the response to the first example. */
  response?: string;
}

/** Collects the examples that plugins declare. */
export function createExamples(): ExampleRegistry {
  const declared = new Map<string, { plugin: string; source: ExampleSource }>();
  return {
    declare(plugin, examples) {
      for (const [name, source] of Object.entries(examples)) declared.set(name, { plugin, source });
    },
    faults(server) {
      const known = new Set(routesWithProtocols(server).map(({ method, path }) => nameOf(method, path)));
      return [...declared].filter(([name]) => !known.has(name)).map(([name, { plugin }]) => `${plugin} declares an example of ${name}, which is no operation of the API`);
    },
    async print(server, api) {
      const operations = operationsOf(server, api);
      const examples = new Map(await Promise.all([...operations].map(async ([name, located]): Promise<[string, Example[]]> => [name, await examplesOf(declared.get(name)?.source, located)])));
      const context: ScriptContext = { api, operations, examples };
      return new Map([...operations].map(([name, located]) => [located.operation.operationId, shown(context, name, located)]));
    },
    async addResponses(server, api, printed) {
      for (const located of operationsOf(server, api).values()) {
        const one = printed.get(located.operation.operationId)!;
        if (!one.examples[0]!.isSample) one.response = await responseTo(server, located, one.values);
      }
    },
  };
}

function nameOf(method: string, path: string): string {
  return `${method.toUpperCase()} ${path}`;
}

function operationsOf(server: Server, api: OpenApi): Map<string, Located> {
  return new Map(routesWithProtocols(server).map(({ method, path, declaration: { stream } }) => {
    return [nameOf(method, path), { method, path, operation: api.paths[path]![method]!, stream }];
  }));
}

async function examplesOf(source: ExampleSource | undefined, located: Located): Promise<Example[]> {
  if (source === undefined) return isComplete(located.operation) ? [{}] : [];
  const found = typeof source === 'function' ? await source() : source;
  return found === null ? [] : [found].flat();
}

/** Returns whether a request needs neither parameters nor a body. */
function isComplete({ parameters = [], requestBody }: Operation): boolean {
  return !parameters.some(({ required }) => required) && !requestBody?.required;
}

function shown(context: ScriptContext, name: string, located: Located): ShownExamples {
  const examples = context.examples.get(name)!;
  if (examples.length > 0) return { examples: examples.map((example) => printExample(context, name, example)), values: examples[0]! };
  const sample = sampleExample(context.api, located.operation);
  return { examples: [printExample(context, name, sample, true)], values: {} };
}

/** Returns an example with placeholders for required query parameters and for the body. */
function sampleExample(api: OpenApi, { parameters = [], requestBody }: Operation): Example {
  const required = (place: string): [string, string][] => parameters.filter((parameter) => parameter.in === place && parameter.required).map(({ name, schema }) => [name, String(sampleOf(schema, api))]);
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return { query: Object.fromEntries(required('query')), ...(type && { type, body: content?.schema ? sampleOf(content.schema, api) : '…' }) };
}
