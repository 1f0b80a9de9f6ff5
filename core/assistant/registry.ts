import { isDeepStrictEqual } from 'node:util';
import { checkRoleAndPlan, missingCredential, type Gates } from '../http/caller.ts';
import { badCursor, isForgedCursor } from '../http/cursor.ts';
import { checkArguments } from '../http/validation.ts';
import { problem } from '../problems.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { promptFaults, resourceFaults, toolFaults, undeclaredNames } from './faults.ts';
import { argumentsSchema, selfContainedSchema } from './schema.ts';
import { MAX_TEXT_BYTES, resultBytes } from './text.ts';
import { truncatable } from './truncate.ts';
import { matchUri } from './uri.ts';
import type { Assistant, AssistantClient, OwnedPrompt, OwnedResource, OwnedTool, Prompt, Resource, Tool, ToolResult } from './types.ts';

export interface AssistantOptions {
  gates: Gates;
  vocabulary: Vocabulary;
  /** Whether the results of tools are validated: for tests, because it costs too much in production. */
  strict: boolean;
  /** Runs code that must not write. `where` names it in errors. */
  readOnly<T>(where: string, fn: () => Promise<T>): Promise<T>;
}

/** The declarations of plugins, complete once all plugins have registered. */
export interface AssistantRegistry extends Assistant {
  tool(plugin: string, tool: Tool): void;
  resource(plugin: string, resource: Resource): void;
  prompt(plugin: string, prompt: Prompt): void;
  /** Returns the faults of declarations that depend on other plugins, one sentence for each. */
  faults(): string[];
}

/** The largest JSON of a result, as `resultBytes` measures it. */
const MAX_BYTES = 44_000;

/** The longest result of a plugin that is sent at all; tools keep to `maxBytes`. */
const MAX_CHARACTERS = 1_000_000;

export function createAssistant({ gates, vocabulary, strict, readOnly }: AssistantOptions): AssistantRegistry {
  const tools = new Map<string, OwnedTool>();
  const resources = new Map<string, OwnedResource>();
  const prompts = new Map<string, OwnedPrompt>();
  const schemas = new WeakMap<Tool, ReturnType<Assistant['schemasOf']>>();

  function add<Declared extends { plugin: string }>(all: Map<string, Declared>, label: string, name: string, declared: Declared, faults: string[]): void {
    const existing = all.get(name);
    if (existing) throw new Error(`The ${label} ${name} belongs to the plugin ${existing.plugin} already`);
    if (faults.length > 0) throw new Error(`The ${label} ${name} cannot be declared: ${faults.join('; ')}`);
    all.set(name, declared);
  }

  function checkAccess({ scope, role, plan }: Pick<Tool, 'scope' | 'role' | 'plan'>, { caller }: AssistantClient): void {
    if (!caller && (scope ?? role ?? plan)) throw missingCredential(gates);
    if (!caller) return;
    // Checks the plan before the scope, as routes do: with the scope, a caller without the plan would be rejected again.
    checkRoleAndPlan(caller, { role, plan }, gates);
    if (scope && !caller.scope.includes(scope)) throw problem('insufficient_scope', { detail: `This needs the scope ${scope}.`, extra: { scopes: [scope] } });
  }

  async function run(tool: OwnedTool, given: unknown, client: AssistantClient): Promise<Required<ToolResult>> {
    const input = checkArguments(tool.input, given);
    const result = await tool.run(input, { ...client, maxBytes: MAX_BYTES, given: Object.keys(given ?? {}) })
      .catch((error: Error) => { throw isForgedCursor(error, input) ? badCursor() : error; });
    const text = checkText(`tool ${tool.name}`, result?.text);
    const json = checkText(`tool ${tool.name}`, result.json ?? JSON.stringify(result.data));
    const checked = { text, json, get data() { return result.data; } };
    if (!strict) return checked;
    const { error } = tool.output.validate(result.data, { convert: false });
    if (error) throw new Error(`The result of the tool ${tool.name} does not match its schema: ${error.message}`);
    const bytes = resultBytes(json) + resultBytes(text);
    if (bytes > MAX_BYTES + MAX_TEXT_BYTES) throw new Error(`The result of the tool ${tool.name} has ${bytes} bytes, which clients truncate: use fitList or fitData, and fitText`);
    if (result.json !== undefined && !isDeepStrictEqual(JSON.parse(result.json), result.data)) throw new Error(`The JSON of the tool ${tool.name} is not that of its data`);
    return checked;
  }

  return {
    tools, resources, prompts,
    maxBytes: MAX_BYTES,
    tool(plugin, tool) {
      const faults = toolFaults(tool);
      add(tools, 'tool', tool.name, { ...tool, output: faults.length > 0 ? tool.output : truncatable(tool.output), plugin }, faults);
    },
    resource: (plugin, resource) => { add(resources, 'resource', resource.uri, { ...resource, plugin }, resourceFaults(resource)); },
    prompt: (plugin, prompt) => { add(prompts, 'prompt', prompt.name, { ...prompt, plugin }, promptFaults(prompt)); },
    faults: () => [
      ...[...tools.values()].flatMap((tool) => undeclaredNames(tool, vocabulary).map((fault) => `the tool ${tool.name} (${tool.plugin}): ${fault}`)),
      ...[...resources.values()].flatMap((resource) => undeclaredNames(resource, vocabulary)
        .map((fault) => `the resource ${resource.uri} (${resource.plugin}): ${fault}`)),
    ],
    async call(tool, given, client) {
      checkAccess(tool, client);
      if (!tool.readOnly) return run(tool, given, client);
      return readOnly(`the tool ${tool.name}, which is readOnly`, () => run(tool, given, client));
    },
    match(uri) {
      for (const resource of resources.values()) {
        const variables = matchUri(resource.uri, uri);
        if (variables) return { resource, variables };
      }
      return null;
    },
    async read(resource, variables, client) {
      checkAccess(resource, client);
      const text = await readOnly(`the resource ${resource.uri}`, () => resource.read(variables, { ...client, maxBytes: MAX_BYTES }));
      return checkText(`resource ${resource.uri}`, text);
    },
    write: async (prompt, given) => checkText(`prompt ${prompt.name}`, await prompt.text(checkArguments(prompt.arguments, given))),
    schemasOf(tool) {
      const found = schemas.get(tool) ?? { input: argumentsSchema(tool.input), output: selfContainedSchema(tool.output) };
      schemas.set(tool, found);
      return found;
    },
  };
}

/** Returns a text that can be sent. A plugin without types could return anything, of any size. */
function checkText(what: string, text: unknown): string {
  if (typeof text !== 'string') throw new Error(`The result of the ${what} has no text`);
  if (text.length > MAX_CHARACTERS) throw new Error(`The result of the ${what} has ${text.length} characters, more than ${MAX_CHARACTERS}`);
  return text;
}
