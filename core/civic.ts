import type { Server } from '@hapi/hapi';
import type { AssistantRegistry } from './assistant/registry.ts';
import type { Command } from './cli/command.ts';
import type { Clock } from './clock.ts';
import type { CoreConfig, Instance } from './config/types.ts';
import type { OpenDatabase } from './database/connect.ts';
import type { EventBus } from './events.ts';
import type { Gates } from './http/caller.ts';
import type { createFetch } from './http/fetch.ts';
import type { Live } from './http/live.ts';
import type { Pages } from './http/pages.ts';
import { absoluteUrl, httpState } from './http/state.ts';
import type { JobQueue } from './jobs.ts';
import type { Logger } from './log.ts';
import type { ExampleRegistry } from './pages/examples/registry.ts';
import type { Operations } from './operations.ts';
import type { Check, Civic, Metric, Plugin, Services } from './plugin.ts';
import type { ReadModels } from './read-models.ts';
import { createSequence } from './sequence.ts';
import type { Vocabulary } from './vocabulary.ts';

export type OwnedCommand = Command & { plugin: string };
export type OwnedCheck = Check & { plugin: string };

/** What the composition holds for all plugins together; each plugin sees it through its own `Civic`. */
export interface Kernel {
  config: CoreConfig;
  instance: Instance;
  log: Logger;
  clock: Clock;
  fetch: ReturnType<typeof createFetch>;
  server: Server;
  gates: Gates;
  events: EventBus;
  jobs: JobQueue;
  readModels: ReadModels;
  vocabulary: Vocabulary;
  assistant: AssistantRegistry;
  operations: Operations;
  /** Names of the running plugins. */
  pluginNames: ReadonlySet<string>;
  services: Map<string, unknown>;
  commands: Map<string, OwnedCommand>;
  checks: OwnedCheck[];
  /** With their plugin's name in front. */
  metrics: Metric[];
  /** To be done once all plugins have registered. */
  whenComposed: { plugin: Plugin; run: () => void }[];
  live: Live;
  examples: ExampleRegistry;
  /** Set before any plugin registers. */
  pages: Pages | null;
  /** Set once everything is migrated. */
  db: OpenDatabase | null;
  /** Declarations are taken only while plugins register. */
  isRegistering: boolean;
}

/** One plugin's view of the kit. Anything used in the wrong phase throws by name. */
export function civicFor(plugin: Plugin, kernel: Kernel): Civic {
  const { name } = plugin;
  const declare = (what: string): void => {
    if (!kernel.isRegistering) throw new Error(`civic.${what} of the plugin ${name} was called after register: declare it there`);
  };
  return {
    config: kernel.config.plugins[name] ?? {},
    instance: kernel.instance,
    log: kernel.log.child({ plugin: name }),
    clock: kernel.clock,
    fetch: kernel.fetch,
    vocabulary: kernel.vocabulary,
    assistant: kernel.assistant,
    operations: kernel.operations,
    get db() { return openDatabaseIn(kernel, name); },
    jobs: kernel.jobs.of(name, () => declare('jobs.define')),

    emit: (tx, event, payload) => kernel.events.emit(tx, name, event, payload),
    on: (event, handler) => { declare('on'); kernel.events.on(name, event, handler as never); },
    watch: (event, handler) => { declare('watch'); kernel.events.watch(name, event, handler as never); },

    provide: (service) => { declare('provide'); kernel.services.set(name, service); },
    service: (other) => requiredService(plugin, other, kernel),
    serviceIfOn: (other) => optionalService(plugin, other, kernel),

    readModel: (model) => { declare('readModel'); kernel.readModels.declare(name, model); },
    whenComposed: (fn) => { declare('whenComposed'); kernel.whenComposed.push({ plugin, run: fn }); },
    sequence: (options) => createSequence({ ...options, name: sequenceName(name, options.name), db: () => openDatabaseIn(kernel, name), log: kernel.log }),

    identify: (resolver) => { declare('identify'); kernel.gates.resolvers.push(resolver); },
    challenge: (parameters) => { declare('challenge'); httpState(kernel.server).challenges.push(parameters); },
    plansWith: (plans) => { declare('plansWith'); kernel.gates.plansWith = plans; },
    admit: (gate) => { declare('admit'); kernel.gates.admit.push(gate); },
    command: (command) => { declare('command'); addCommand(kernel, name, command); },
    check: (check) => { declare('check'); kernel.checks.push({ ...check, plugin: name }); },
    tool: (tool) => { declare('tool'); kernel.assistant.tool(name, tool); },
    resource: (resource) => { declare('resource'); kernel.assistant.resource(name, resource); },
    examples: (examples) => { declare('examples'); kernel.examples.declare(name, examples); },
    prompt: (prompt) => { declare('prompt'); kernel.assistant.prompt(name, prompt); },
    metric: (metric) => { declare('metric'); kernel.metrics.push({ ...metric, name: `${name}_${metric.name}` }); },

    texts: (language) => kernel.pages!.texts.of(name, language),
    pages: {
      navigation: (item) => { declare('pages.navigation'); kernel.pages!.navigation(item, name); },
      header: (part) => { declare('pages.header'); kernel.pages!.header(part); },
      fill: (slot, part) => { declare('pages.fill'); if (isOpenSlot(plugin, slot, kernel)) kernel.pages!.fill(slot, part); },
      parts: (slot, request) => kernel.pages!.parts(ownSlot(plugin, slot), request),
      render: (request, page, context) => kernel.pages!.render(request, page, context),
    },
    live: (path) => { declare('live'); return kernel.live.topic(path); },
    upgrade: (path, handler) => { declare('upgrade'); httpState(kernel.server).upgrades.add(path, handler); },
    headers: (request) => httpState(kernel.server).answerHeaders.of(request),
    url: (path) => absoluteUrl(kernel.server, path),
  };
}

/** Whether the slot is there: not while the plugin that it belongs to is off. */
function isOpenSlot({ name, needs = [], uses = [] }: Plugin, slot: string, { vocabulary, pluginNames }: Kernel): boolean {
  const owner = slot.split('.')[0]!;
  if (![name, ...needs, ...uses].includes(owner)) throw new Error(`The plugin ${name} fills the page slot ${slot}: add ${owner} to its uses`);
  if (vocabulary.slots.has(slot)) return true;
  if (pluginNames.has(owner)) throw new Error(`The plugin ${name} fills the page slot ${slot}, which ${owner} does not declare`);
  return false;
}

function ownSlot({ name, slots = {} }: Plugin, slot: string): string {
  if (!Object.hasOwn(slots, slot)) throw new Error(`The plugin ${name} shows the page slot ${slot}: declare it in its slots`);
  return slot;
}

function openDatabaseIn({ db }: Kernel, plugin: string): OpenDatabase {
  if (!db) throw new Error(`civic.db of the plugin ${plugin} was used before everything was migrated: use it in start, handlers and services`);
  return db;
}

function sequenceName(plugin: string, name: string): string {
  if (name === plugin || name.startsWith(`${plugin}_`)) return name;
  throw new Error(`The plugin ${plugin} cannot keep the log "${name}": its tables begin with "${plugin}_"`);
}

function requiredService<Name extends keyof Services>(plugin: Plugin, other: Name, kernel: Kernel): Services[Name] {
  if (!plugin.needs?.includes(other)) throw new Error(`The plugin ${plugin.name} asks for the service ${String(other)}: add it to its needs`);
  const service = kernel.services.get(other);
  if (service === undefined) throw new Error(`The plugin ${String(other)} provides no service, but ${plugin.name} asks for it`);
  return service as Services[Name];
}

function optionalService<Name extends keyof Services>(plugin: Plugin, other: Name, kernel: Kernel): Services[Name] | null {
  if (!plugin.uses?.includes(other)) throw new Error(`The plugin ${plugin.name} asks for the service ${String(other)}: add it to its uses`);
  return (kernel.services.get(other) as Services[Name] | undefined) ?? null;
}

export function addCommand(kernel: Kernel, plugin: string, command: Command): void {
  // Programs may have different commands of one name.
  const key = `${command.program ?? ''}/${command.name}`;
  const taken = kernel.commands.get(key);
  if (taken) throw new Error(`The command "${command.name}" of the plugin ${plugin} belongs to ${taken.plugin} already`);
  kernel.commands.set(key, { ...command, plugin });
}
