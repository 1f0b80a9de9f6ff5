import type { Request, Server } from '@hapi/hapi';
import type { Schema as JoiSchema } from 'joi';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Assistant, Prompt, Resource, Tool } from './assistant/types.ts';
import type { Clock } from './clock.ts';
import type { Command } from './cli/command.ts';
import { nearest } from './config/nearest.ts';
import type { ConfigFragment, Instance } from './config/types.ts';
import type { Database, Tx } from './database/types.ts';
import type { Fetch } from './http/fetch.ts';
import type { LiveTopic } from './http/live.ts';
import type { PageSlots } from './http/pages.ts';
import type { ProblemBody } from './http/problem.ts';
import type { Jobs } from './jobs.ts';
import type { Logger } from './log.ts';
import type { Operations } from './operations.ts';
import { registerProblems, type ProblemKinds } from './problems.ts';
import type { Examples } from './pages/examples/types.ts';
import type { ReadModel } from './read-models.ts';
import type { Sequence, SequenceOptions } from './sequence.ts';
import type { Language } from './texts/language.ts';
import type { Texts } from './texts/texts.ts';
import { CATEGORIES, declarationFaults, type Declarations, type OffDeclarations, type Vocabulary, vocabularyOf } from './vocabulary.ts';

/** The services of plugins, by plugin name. A plugin adds its own by declaration merging. */
export interface Services {}

/** The events that plugins emit, by name, with their payloads. A plugin adds its own by declaration merging. */
export interface Events {}

/** The authenticated caller of a request, returned by resolvers that plugins add with `civic.identify`. */
export interface Caller {
  account_id: string;
  /** The kind of credential. */
  via: 'key' | 'token' | 'session';
  scope: string[];
  /** The role on this instance. */
  role: 'user' | 'reviewer' | 'admin';
  plan: string;
  /** What the plan allows; a route names one in `plugins.civic.plan`. */
  capabilities: string[];
  workspace_id: string | null;
  workspace_role: 'member' | 'reviewer' | 'admin' | 'owner' | null;
  /** The id of the key, token or session, for connections that outlive the request. */
  credential_id?: string;
  /** When the credential or the plan expires, in milliseconds; absent when neither does. */
  valid_until?: number;
}

/** What a route declares under hapi's `options.plugins.civic`. */
export interface RouteDeclaration {
  /** The role required in addition to the scope. */
  role?: 'reviewer' | 'admin';
  /** The capability of a plan required in addition to the scope. */
  plan?: string;
  /** How requests count against rate limits: `read`, `write`, `stream`, `none`, or a class that a plugin declares in `rates`; by method when absent. */
  rate?: string;
  /** The response has no Server-Timing header: the time could reveal a secret. */
  untimed?: boolean;
  /** The problems that its handler throws; core adds those that follow from other settings of the route. */
  problems?: string[];
  /** Parameters of the query and the path that the log masks, besides those that are secrets on every route. */
  masked?: string[];
  /** Its handler writes to the raw response and sets the headers of `civic.headers` itself. */
  raw?: boolean;
  /** The response has an ETag that is compared with `If-None-Match`, so it may be 304. */
  conditional?: boolean;
  /** Response headers in addition to those that follow from its other settings. */
  headers?: ('Cache-Control' | 'Content-Location' | 'Last-Modified' | 'Preference-Applied' | 'Vary')[];
  /** The media types of its response besides `application/json`. A JSON type among them has the response schema and replaces `application/json`. */
  produces?: string[];
  /** The schema of a JSON body that the handler reads as a stream, for OpenAPI: hapi does not check it. */
  body?: JoiSchema;
  /** The response contains a secret and is not stored: a repeated Idempotency-Key is 409. */
  secret?: boolean;
  /** The summary of HEAD, where OpenAPI lists it as an operation. HEAD works on every GET route. */
  head?: string;
  /** The messages of a stream, for AsyncAPI. */
  stream?: StreamDeclaration;
  /** Not part of the published contract: pages, assets. */
  internal?: boolean;
  /** The messages of an internal route that another specification defines, such as RFC 6749: OpenAPI lists them, but core does not check them. */
  protocol?: ProtocolDeclaration;
  /** Accepts a form of a page of this instance, and rejects cross-site forms; set by `formOptions`. */
  form?: boolean;
  /** The handler reads the `Authorization` header itself, as OAuth endpoints do: no resolver is called. Gates are called with an anonymous caller. */
  ownCredentials?: boolean;
  /** Returns the body of an error as the protocol of the route defines it, such as RFC 6749; RFC 9457 when absent. */
  errors?(problem: ProblemBody, request: Request): object;
  /** Scripts of every allowed website may call it, with any method. For routes with tokens as credentials, which browsers do not send by themselves. */
  cors?: CorsDeclaration;
}

export interface CorsDeclaration {
  /** Request headers that are allowed besides those of every API route. */
  headers?: string[];
  /** Response headers that scripts may read besides those of every API route. */
  expose?: string[];
  /** Websites that are allowed besides those of `http.cors_origins`; `*` is all of them. */
  origins?: string[];
}

export interface ProtocolDeclaration {
  query?: JoiSchema;
  payload?: JoiSchema;
  /** The JSON schemas of responses by status; null for a response without JSON. */
  responses: Record<number, JoiSchema | null>;
}

export interface StreamDeclaration {
  protocol: 'sse' | 'websocket';
  /** The schemas of messages by name. */
  send: Record<string, JoiSchema>;
  receive?: Record<string, JoiSchema>;
  subprotocol?: string;
}

declare module '@hapi/hapi' {
  interface RouteOptionsPlugins { civic?: RouteDeclaration }
  interface PluginSpecificConfiguration { civic?: RouteDeclaration }
  interface UserCredentials extends Partial<Caller> {}
}

export interface EventKind {
  /** One sentence for the documentation. */
  summary: string;
  /** Raise it when the schema of the payload changes. Stored with each event. */
  version: number;
  payload: JoiSchema;
}

export interface EventRecord<Payload = unknown> {
  seq: number;
  name: string;
  version: number;
  at: string;
  payload: Payload;
}

/** A check of a running instance, shown by `doctor` and `/health/ready`. */
export interface Check {
  name: string;
  /** Whether `/health/ready` runs it as well; `doctor` always does. */
  readiness?: boolean;
  /** Whether it takes a few milliseconds and asks no other server, as those of readiness do: the console runs it for each view. */
  quick?: boolean;
  run(): Promise<CheckResult>;
}

export interface CheckResult {
  status: 'ok' | 'warning' | 'failed';
  detail: string;
  /** The exact next step when the status is not ok. */
  fix?: string;
  /** The progress of work that the check waits for; `/health/ready` shows it. */
  progress?: { done: number; total: number };
}

/** A metric of this process, read at each request for `/metrics`. */
export interface Metric {
  /** Shown as `civic_<plugin>_<name>`; the name of a counter ends in `_total`. */
  name: string;
  help: string;
  value(): number;
}

/** Reports the progress of long work. */
export type Progress = (label: string, done: number, total: number) => void;

export interface Lifecycle {
  /** May do I/O. Everything is migrated; the plugins this one needs have started. */
  start?(): Promise<void>;
  /** Undoes `start`, also a failed one. Bounded by `shutdown_seconds`. */
  stop?(): Promise<void>;
}

export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer, hapiRequest: Request) => void;

/** How `/docs` shows the operations of a plugin. */
export interface ReferenceDeclaration {
  /** The heading of all its operations: "Directory". */
  title: string;
  /** Plugins with a smaller number come first; 100 when absent. */
  order?: number;
  /** Further headings in their order, by the first part of the path after `/api`: `{ places: 'Places' }`. Other operations follow them. */
  sections?: Record<string, string>;
}

/** The API of core for one plugin. */
export interface Civic<Config = unknown> {
  /** The plugin's own section of the config file, checked. */
  readonly config: Config;
  /** The name, version, public URL and data folder of this installation. */
  readonly instance: Instance;
  readonly log: Logger;
  readonly clock: Clock;
  /** Throws an error that names the plugin before all migrations have run. */
  readonly db: Database;
  /** The client for outgoing requests. */
  readonly fetch: Fetch;
  readonly jobs: Jobs;
  /** The scopes, capabilities, limits, rate classes, paths and page slots of all plugins that run. */
  readonly vocabulary: Vocabulary;

  /** What an operator reads and does, over all plugins: for a plugin that shows it to operators. */
  readonly operations: Operations;
  /** The tools, resources and prompts of all plugins, for a plugin that serves them to assistants. */
  readonly assistant: Assistant;

  /** Emits an event in the transaction of the change that it describes. */
  emit<Name extends keyof Events & string>(tx: Tx, name: Name, payload: Events[Name]): Promise<void>;
  /** Handles each event once per installation, in order, in a transaction that also advances this plugin's position. */
  on<Name extends keyof Events & string>(name: Name, handler: (tx: Tx, event: EventRecord<Events[Name]>) => Promise<void>): void;
  /** Handles events on every node, without a delivery guarantee; for caches. */
  watch<Name extends keyof Events & string>(name: Name, handler: (event: EventRecord<Events[Name]>) => void): void;

  /** Registers this plugin's service under its name. */
  provide(service: unknown): void;
  /** The service of a plugin in `needs`. */
  service<Name extends keyof Services>(name: Name): Services[Name];
  /** The service of a plugin in `uses`, or null when it is off. */
  serviceIfOn<Name extends keyof Services>(name: Name): Services[Name] | null;

  /** Declares derived tables, which core rebuilds when the code has another version of them than the database. */
  readModel(model: ReadModel): void;

  /** Calls back once all plugins have registered, for routes whose schemas depend on what the others declared. Declares like `register`. */
  whenComposed(fn: () => void): void;
  /** Declares a log with a gapless sequence of numbers; its migration creates the tables with `schema.createSequenceTables`. */
  sequence<Row extends object>(options: Omit<SequenceOptions<Row>, 'db' | 'log'>): Sequence<Row>;

  /** Adds a resolver: it returns a caller, returns null for credentials of another kind, or throws a 401. */
  identify(resolver: (request: Request) => Promise<Caller | null> | Caller | null): void;
  /** Adds parameters to the `Bearer` challenge of 401 and 403 responses, such as `resource_metadata`; null adds none. */
  challenge(parameters: (request: Request) => Record<string, string> | null): void;
  /** Provides the plans that include a capability, for the problem `plan_required`. */
  plansWith(plans: (capability: string) => string[]): void;
  /** Adds a gate, called once the caller is identified or rejected. It throws a 429 to reject the request. */
  admit(gate: (caller: Caller | null, request: Request) => Promise<void> | void): void;
  /** Adds a command to `bin/civic`. */
  command(command: Command): void;
  check(check: Check): void;
  /** Declares a function that assistants can call. */
  tool<Input, Data extends object>(tool: Tool<Input, Data>): void;
  /** Declares data that clients of assistants read by URI. */
  resource(resource: Resource): void;
  /** Declares requests that `/docs` prints as shell commands, by operation. */
  examples(examples: Examples): void;
  /** Declares a message that users choose from a menu of their assistant. */
  prompt<Arguments>(prompt: Prompt<Arguments>): void;
  metric(metric: Metric): void;

  /** Returns the plugin's texts, dates and numbers in a language, such as `request.civic.language`. */
  texts(language: Language): Promise<Texts>;
  /** Adds entries to the navigation and partials to the header of every page. */
  readonly pages: PageSlots;
  /** Declares a public topic that open pages subscribe to, such as `/signals`. */
  live(path: string): LiveTopic;
  /** Takes over WebSocket upgrades of a GET route, after its auth and validation have passed. */
  upgrade(path: string, handler: UpgradeHandler): void;
  /** Returns the headers of every response, for handlers that write to the raw response themselves. */
  headers(request: Request): Record<string, string>;
  /** Returns the absolute public URL of a path. */
  url(path: string): string;
}

export interface Plugin<Config = any> extends Declarations {
  /** Folder, config key, table prefix and log field. */
  name: string;
  /** One sentence, shown by `civic plugin list` and in the docs. */
  summary: string;
  /** What an instance lacks without the plugin, as a sentence: shown as a warning while the plugin is off. */
  recommended?: string;
  /** The options of its section in the config file, as a convict schema; a function where they depend on what the plugins that run declare. */
  config?: ConfigFragment | ((vocabulary: Vocabulary, off: OffDeclarations) => ConfigFragment);
  /** How `/docs` shows its operations; the name of the plugin is their heading when absent. */
  reference?: ReferenceDeclaration;
  /** Plugins it cannot run without. */
  needs?: string[];
  /** Plugins it works with when they are on. */
  uses?: string[];
  problems?: ProblemKinds;
  events?: Record<string, EventKind>;
  /** The folder of its migrations. */
  migrations?: string;
  /** Returns the paths of texts that are English in files of the plugin, besides those in this declaration. Only checks of translations call it. */
  declaredTexts?(): string[];
  /** Declares routes, commands, jobs. Pure: no I/O; state lives in its closure. */
  register(server: Server, civic: Civic<Config>): Lifecycle | void | Promise<Lifecycle | void>;
}

const NAME = /^[a-z][a-z0-9]*$/;
const MEMBERS = ['name', 'summary', 'recommended', 'config', 'reference', 'needs', 'uses', 'problems', 'events', ...CATEGORIES, 'migrations', 'declaredTexts', 'register'];

/** Returns why a plugin cannot have this name, or null. */
export function nameFault(name: string): string | null {
  if (!NAME.test(name)) return `"${name}" cannot name a plugin: use lower-case letters and digits`;
  return name === 'core' ? '"core" cannot name a plugin: tables and commands of that name are core\'s own' : null;
}

/** Returns the options of a plugin among those that run with it. */
export function configOf({ config }: Pick<Plugin, 'config'>, vocabulary: Vocabulary, off: OffDeclarations = vocabularyOf([])): ConfigFragment | undefined {
  return typeof config === 'function' ? config(vocabulary, off) : config;
}

/** Declares a plugin. The default export of its `index` file. */
export function definePlugin<Config = any>(plugin: Plugin<Config>): Plugin<Config> {
  const fault = nameFault(plugin.name);
  if (fault) throw new Error(fault);
  if (!plugin.summary) throw new Error(`The plugin ${plugin.name} has no summary`);
  if (typeof plugin.register !== 'function') throw new Error(`The plugin ${plugin.name} has no register(server, civic)`);
  for (const member of Object.keys(plugin)) {
    if (MEMBERS.includes(member)) continue;
    const near = nearest(member, MEMBERS);
    throw new Error(`The plugin ${plugin.name} has a member "${member}", which is not known: ${near ? `did you mean "${near}"?` : `there are ${MEMBERS.join(', ')}`}`);
  }
  const [declared] = declarationFaults(plugin);
  if (declared) throw new Error(`The plugin ${plugin.name} has an invalid declaration: ${declared}`);
  if (plugin.problems) registerProblems(plugin.problems, plugin.name);
  return plugin;
}

