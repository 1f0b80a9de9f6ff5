import type { ObjectSchema } from 'joi';
import type { Caller } from '../plugin.ts';

/** The client that calls a tool or reads a resource. */
export interface AssistantClient {
  /** Null for an anonymous caller. */
  caller: Caller | null;
  /** Aborts when the client no longer waits for the result. */
  signal: AbortSignal;
}

/** The request that a resource serves. */
export interface AssistantCall extends AssistantClient {
  /** The largest JSON of a result, as `resultBytes` measures it; `fitList` and `fitData` keep to it. */
  maxBytes: number;
}

/** The request that a tool serves. */
export interface ToolCall extends AssistantCall {
  /** The names of the arguments that the assistant sent; the others have their defaults. */
  given: string[];
}

export interface ToolResult<Data = object> {
  /** Matches the schema `output`. Statements have their sources. */
  data: Data;
  /** A summary for clients that show text only: a line for each item, with its id and its source. Stored text in it is quoted with `quoteText`. */
  text: string;
  /** The JSON of `data`, from a tool that has it: it is not serialized again. `data` can then be a getter, because few protocols read it. */
  json?: string;
}

/** A function that an assistant can call, such as over MCP. It calls the same function as a route, with the schemas of that route. */
export interface Tool<Input = any, Data extends object = any> {
  /** In snake_case, unique among all plugins. */
  name: string;
  /** A name for users, in sentence case: "Search actors". */
  title: string;
  /** States what the tool does, when to call it, and which tool returns the ids that it needs. Assistants choose tools by this text. */
  description: string;
  /** The tool changes no data. A call in a test fails when the tool writes. */
  readOnly: boolean;
  /** The tool deletes or overwrites data. Clients ask the user before they call it. */
  destructive: boolean;
  /** The scope that the caller needs. Anonymous callers can call a tool without scope, role and plan. */
  scope?: string;
  /** The capability of a plan that the caller needs. */
  plan?: string;
  /** The role on the instance that the caller needs. */
  role?: 'reviewer' | 'admin';
  /** The arguments, by name. Values are converted as in a query: "5" is 5. */
  input: ObjectSchema<Input>;
  output: ObjectSchema;
  /** The next step of the assistant after a problem that `run` throws, by code: "Call search_places with the name." */
  advice?: Record<string, string>;
  /** Returns the result, or throws `problem(…)` like the handler of a route. */
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
  /** Returns the content. `variables` are those of the template, decoded. */
  read(variables: Record<string, string>, call: AssistantCall): Promise<string>;
}

/** A message to the assistant that a user chooses from a menu. */
export interface Prompt<Arguments = any> {
  name: string;
  title: string;
  description: string;
  /** The arguments by name: strings, each with a description. */
  arguments: ObjectSchema<Arguments>;
  /** Returns the message. */
  text(given: Arguments): string | Promise<string>;
}

export type OwnedTool = Tool & { plugin: string };
export type OwnedResource = Resource & { plugin: string };
export type OwnedPrompt = Prompt & { plugin: string };

/** The tools, resources and prompts of all running plugins, for a plugin that serves them over a protocol. Complete once all plugins have registered. */
export interface Assistant {
  readonly tools: ReadonlyMap<string, OwnedTool>;
  /** By URI. */
  readonly resources: ReadonlyMap<string, OwnedResource>;
  readonly prompts: ReadonlyMap<string, OwnedPrompt>;
  /** The largest JSON of a result, as `resultBytes` measures it. */
  readonly maxBytes: number;
  /** Checks the scope, role and plan of the caller and the arguments, and runs the tool. */
  call(tool: OwnedTool, given: unknown, client: AssistantClient): Promise<Required<ToolResult>>;
  /** Returns the resource that a URI names and the variables in the URI, or null. */
  match(uri: string): { resource: OwnedResource; variables: Record<string, string> } | null;
  /** Checks the scope, role and plan of the caller, and reads the resource. */
  read(resource: OwnedResource, variables: Record<string, string>, client: AssistantClient): Promise<string>;
  /** Checks the arguments and returns the message of the prompt. */
  write(prompt: OwnedPrompt, given: unknown): Promise<string>;
  /** Returns the JSON Schemas (draft 2020-12) of the arguments and the result of a tool, each without references to other documents. */
  schemasOf(tool: Tool): { input: Record<string, unknown>; output: Record<string, unknown> };
}
