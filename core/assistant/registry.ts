import { isDeepStrictEqual } from 'node:util';
import { checkRoleAndPlan, missingCredential, type Gates } from '../http/caller.ts';
import { checkArguments } from '../http/validation.ts';
import { problem } from '../problems.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { promptFaults, resourceFaults, toolFaults, undeclaredNames } from './faults.ts';
import { ofArguments, selfContained } from './schema.ts';
import { matchUri } from './uri.ts';
import type { Assistant, AssistantClient, OwnedPrompt, OwnedResource, OwnedTool, Prompt, Resource, Tool } from './types.ts';

export interface AssistantOptions {
  gates: Gates;
  vocabulary: Vocabulary;
  /** Checks that cost too much in production: results are held against their schema, and a tool that is readOnly cannot write. */
  strict: boolean;
  /** Runs code that must not write. */
  reading<T>(what: string, fn: () => Promise<T>): Promise<T>;
}

/** The declarations of plugins, complete once all plugins have registered. */
export interface AssistantRegistry extends Assistant {
  tool(plugin: string, tool: Tool): void;
  resource(plugin: string, resource: Resource): void;
  prompt(plugin: string, prompt: Prompt): void;
  /** Returns what is wrong with the declarations among all plugins, a sentence each. */
  faults(): string[];
}

/**
 * Clients cut results above 25,000 tokens. JSON that is full of ids has at least 2.2 bytes a token, and the text of a result comes
 * on top.
 */
const MAX_BYTES = 44_000;

export function createAssistant({ gates, vocabulary, strict, reading }: AssistantOptions): AssistantRegistry {
  const tools = new Map<string, OwnedTool>();
  const resources = new Map<string, OwnedResource>();
  const prompts = new Map<string, OwnedPrompt>();
  const schemas = new WeakMap<Tool, ReturnType<Assistant['schemasOf']>>();

  function add<One>(all: Map<string, One & { plugin: string }>, kind: string, name: string, plugin: string, one: One, faults: string[]): void {
    const taken = all.get(name);
    if (taken) throw new Error(`The ${kind} ${name} belongs to the plugin ${taken.plugin} already`);
    if (faults.length > 0) throw new Error(`The ${kind} ${name} cannot be declared: ${faults.join('; ')}`);
    all.set(name, { ...one, plugin });
  }

  function checkAccess({ scope, role, plan }: Pick<Tool, 'scope' | 'role' | 'plan'>, { caller }: AssistantClient): void {
    if (!caller && (scope ?? role ?? plan)) throw missingCredential(gates);
    if (!caller) return;
    if (scope && !caller.scope.includes(scope)) throw problem('insufficient_scope', { detail: `This needs the scope ${scope}.`, extra: { scopes: [scope] } });
    checkRoleAndPlan(caller, { role, plan }, gates);
  }

  async function run(tool: OwnedTool, given: unknown, client: AssistantClient) {
    const result = await tool.run(checkArguments(tool.input, given), { ...client, maxBytes: MAX_BYTES, given: Object.keys(given ?? {}) });
    if (!strict) return result;
    const { error } = tool.output.validate(result.data, { convert: false });
    if (error) throw new Error(`The result of the tool ${tool.name} does not match its schema: ${error.message}`);
    if (result.json !== undefined && !isDeepStrictEqual(JSON.parse(result.json), result.data)) throw new Error(`The JSON of the tool ${tool.name} is not that of its data`);
    return result;
  }

  return {
    tools, resources, prompts,
    maxBytes: MAX_BYTES,
    tool: (plugin, tool) => { add(tools, 'tool', tool.name, plugin, tool, toolFaults(tool)); },
    resource: (plugin, resource) => { add(resources, 'resource', resource.uri, plugin, resource, resourceFaults(resource)); },
    prompt: (plugin, prompt) => { add(prompts, 'prompt', prompt.name, plugin, prompt, promptFaults(prompt)); },
    faults: () => [
      ...[...tools.values()].flatMap((tool) => undeclaredNames(tool, vocabulary).map((fault) => `the tool ${tool.name} (${tool.plugin}): ${fault}`)),
      ...[...resources.values()].flatMap((resource) => undeclaredNames(resource, vocabulary).map((fault) => `the resource ${resource.uri} (${resource.plugin}): ${fault}`)),
    ],
    async call(tool, given, client) {
      checkAccess(tool, client);
      return tool.readOnly ? reading(`the tool ${tool.name}, which is readOnly`, () => run(tool, given, client)) : run(tool, given, client);
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
      return reading(`the resource ${resource.uri}`, () => resource.read(variables, { ...client, maxBytes: MAX_BYTES }));
    },
    write: (prompt, given) => prompt.text(checkArguments(prompt.arguments, given)),
    schemasOf(tool) {
      const known = schemas.get(tool) ?? { input: ofArguments(tool.input), output: selfContained(tool.output) };
      schemas.set(tool, known);
      return known;
    },
  };
}
