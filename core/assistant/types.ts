import type { ObjectSchema } from 'joi';
import type { Caller } from '../plugin.ts';

/** Who calls a tool or reads a resource. */
export interface AssistantClient {
  /** Null for an anonymous caller. */
  caller: Caller | null;
  /** Aborts when the client no longer waits for the result. */
  signal: AbortSignal;
}

/** What a resource knows of the request that it serves. */
export interface AssistantCall extends AssistantClient {
  /** How many bytes the JSON of a result may have; see `fitList`. */
  maxBytes: number;
}

export interface ToolCall extends AssistantCall {
  /** The names of the arguments that the assistant gave; the others have their defaults. */
  given: string[];
}

export interface ToolResult<Data = object> {
  /** Matches the schema `output`. Statements in it come with their sources. */
  data: Data;
  /** The same for clients that show text only: a line for each item, with its id and its source. */
  text: string;
  /** The JSON of `data`, from a tool that has it: it is not serialized again. */
  json?: string;
}

/** A function that an assistant can call, such as over MCP. It does what a route does, with the schemas of that route. */
export interface Tool<Input = any, Data extends object = any> {
  /** Unique over all plugins, in snake_case. */
  name: string;
  /** What people see, in sentence case: "Search actors". */
  title: string;
  /** What it does, when to call it, and which tool gives the ids that it takes. Assistants choose by this text. */
  description: string;
  /** It changes no data. Tests fail when such a tool writes. */
  readOnly: boolean;
  /** It deletes or overwrites data, so that assistants ask before they call it. */
  destructive: boolean;
  /** The scope that the caller needs. A tool without a scope, role and plan serves anonymous callers. */
  scope?: string;
  /** The capability of a plan that the caller needs. */
  plan?: string;
  /** The role on the instance that the caller needs. */
  role?: 'reviewer' | 'admin';
  /** The arguments, by name. Values are converted as in a query: "5" is 5. */
  input: ObjectSchema<Input>;
  output: ObjectSchema;
  /** What the assistant should do about a problem that `run` throws, by code: "Call search_places with the name." */
  advice?: Record<string, string>;
  /** Throws `problem(…)` like the handler of a route. */
  run(input: Input, call: ToolCall): Promise<ToolResult<Data>>;
}

/** Data that a client reads by URI and shows to the assistant. */
export interface Resource {
  /** A template with one or more variables, such as `civic://notes/{id}`, or a fixed URI. */
  uri: string;
  name: string;
  title: string;
  description: string;
  /** `application/json` when absent. */
  mimeType?: string;
  scope?: string;
  plan?: string;
  role?: 'reviewer' | 'admin';
  /** Returns the text. `variables` are those of the template, decoded. */
  read(variables: Record<string, string>, call: AssistantCall): Promise<string>;
}

/** A request that a person chooses from a menu; its text goes to the assistant. */
export interface Prompt<Arguments = any> {
  name: string;
  title: string;
  description: string;
  /** Members are texts; each has a description. */
  arguments: ObjectSchema<Arguments>;
  text(given: Arguments): string;
}

export type OwnedTool = Tool & { plugin: string };
export type OwnedResource = Resource & { plugin: string };
export type OwnedPrompt = Prompt & { plugin: string };

/** What the running plugins offer to assistants, for the plugin that speaks a protocol with them. Complete once all have registered. */
export interface Assistant {
  readonly tools: ReadonlyMap<string, OwnedTool>;
  /** By URI. */
  readonly resources: ReadonlyMap<string, OwnedResource>;
  readonly prompts: ReadonlyMap<string, OwnedPrompt>;
  /** How many bytes the JSON of a result may have. */
  readonly maxBytes: number;
  /** Checks scope, role and plan of the caller and the arguments, then runs the tool. */
  call(tool: OwnedTool, given: unknown, client: AssistantClient): Promise<ToolResult>;
  /** Returns the resource that a URI names and the variables in the URI, or null. */
  match(uri: string): { resource: OwnedResource; variables: Record<string, string> } | null;
  read(resource: OwnedResource, variables: Record<string, string>, client: AssistantClient): Promise<string>;
  /** Checks the arguments and returns the text. */
  write(prompt: OwnedPrompt, given: unknown): string;
  /** Returns the self-contained JSON Schema (draft 2020-12) of what a tool takes and returns. */
  schemasOf(tool: Tool): { input: Record<string, unknown>; output: Record<string, unknown> };
}
