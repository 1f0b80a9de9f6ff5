import Joi from 'joi';
import type { Request } from '@hapi/hapi';
import type { ProblemBody } from './http/problem.ts';
import type { Plugin } from './plugin.ts';

/** A permission that an API key or a token can have, such as `notes:read`. */
export interface ScopeKind {
  /** What the scope allows, for key and consent pages: "Read your notes". */
  label: string;
  /** Which data that is, for consent pages: "Also those that you keep private". */
  hint?: string;
  /** The capability that the account's plan must include. */
  capability?: string;
  /** The lowest role on the instance that may have the scope. */
  role?: 'reviewer' | 'admin';
  /** A key that is created without a list of scopes does not get this scope. */
  onRequest?: boolean;
}

/** A feature that some plans include. A route requires one with `plugins.civic.plan`. */
export interface CapabilityKind {
  label: string;
  /** The limit of the same plugin that decides: a plan includes the capability when its limit is above 0. */
  limit: string;
}

/** A number that the operator sets for each plan. */
export interface LimitKind {
  /** The heading of its column on plan pages: "API keys". */
  label: string;
  /** One sentence for the API documentation. */
  doc: string;
  /** The values in the plans that an instance has by default, by the name of the plan; 0 in all others. */
  plans?: Record<string, number>;
}

/** A class of requests with its own counters. A route names one in `plugins.civic.rate`, a top-level path in `paths`. */
export interface RateKind {
  /** Which requests these are, as in "Requests a minute for signing in". */
  label: string;
  /** The default limits for each account, or client address without one. */
  per_minute: number;
  per_hour: number;
  /** Requests of an identified account count against the limits of its plan instead. */
  plan?: boolean;
  /** Requests count by client address, also when the account is known: signing in as one account gives no further attempts at another. */
  byAddress?: boolean;
}

/** A first part of paths outside `/api`, such as `/notes`. */
export interface PathKind {
  /** Who calls it. Programs get errors as JSON, and a session's cookie does not authenticate them. */
  audience: 'people' | 'programs';
  /** The rate class of all its requests; that of pages when absent. */
  rate?: string;
  /** Other plugins may have routes under it too. */
  shared?: boolean;
  /** False when its addresses have no language prefix, as those of files. Never with `programs`. */
  languages?: boolean;
  /** False when search engines should not read its pages, as those that differ by reader. */
  crawlers?: boolean;
  /** Returns the body of an error where no route matches, as the protocol of the path defines it; RFC 9457 when absent. */
  errors?(problem: ProblemBody, request: Request): object;
  /** Responses have no Server-Timing header where no route matches; routes declare it themselves. */
  untimed?: boolean;
}

/** A place on a plugin's page where other plugins add a part. */
export interface SlotKind {
  /** Where the part is shown, in one sentence. */
  summary: string;
}

/** What a plugin declares besides routes and events, by name. */
export interface Declarations {
  scopes?: Record<string, ScopeKind>;
  capabilities?: Record<string, CapabilityKind>;
  limits?: Record<string, LimitKind>;
  rates?: Record<string, RateKind>;
  paths?: Record<string, PathKind>;
  slots?: Record<string, SlotKind>;
}

export type Category = keyof Declarations;
type Kind<C extends Category> = NonNullable<Declarations[C]>[string];

/** The declarations of all plugins that run. Each has the name of its plugin. */
export type Vocabulary = { readonly [C in Category]-?: ReadonlyMap<string, Kind<C> & { plugin: string }> };

const NAMES: Record<Category, { pattern: RegExp; form: string }> = {
  scopes: { pattern: /^[a-z][a-z0-9_]*(:[a-z][a-z0-9_]*)?$/, form: 'words in lower case like notes:read' },
  capabilities: { pattern: /^[a-z][a-z0-9_]*$/, form: 'words in snake_case' },
  limits: { pattern: /^[a-z][a-z0-9_]*$/, form: 'words in snake_case' },
  rates: { pattern: /^[a-z][a-z0-9_]*$/, form: 'words in snake_case' },
  paths: { pattern: /^\/([a-z0-9.][a-z0-9._-]*)?$/, form: 'the first part of a path like /notes, or /' },
  slots: { pattern: /^[a-z][a-z0-9]*\.[a-z][a-z0-9_]*$/, form: "the plugin's name and a word like notes.footer" },
};

export const CATEGORIES = Object.keys(NAMES) as Category[];

const text = Joi.string().trim().min(1).required();
const most = 1_000_000_000;
const rate = Joi.number().integer().min(1).max(most).required();

/** What pages, options and contracts are built of, so a mistake would otherwise be reported as one of the plugin that builds them. */
const KINDS: { [C in Category]: Joi.ObjectSchema<Kind<C>> } = {
  scopes: Joi.object<ScopeKind, true>({ label: text, hint: Joi.string().trim().min(1), capability: Joi.string(), role: Joi.string().valid('reviewer', 'admin'), onRequest: Joi.boolean() }),
  capabilities: Joi.object<CapabilityKind, true>({ label: text, limit: text }),
  limits: Joi.object<LimitKind, true>({ label: text, doc: text, plans: Joi.object().pattern(Joi.any(), Joi.number().integer().min(0).max(most)) }),
  rates: Joi.object<RateKind, true>({ label: text, per_minute: rate, per_hour: rate, plan: Joi.boolean(), byAddress: Joi.boolean() }),
  paths: Joi.object<PathKind, true>({ audience: Joi.string().valid('people', 'programs').required(), rate: Joi.string(), shared: Joi.boolean(), languages: Joi.boolean(), crawlers: Joi.boolean(), errors: Joi.function(), untimed: Joi.boolean() }),
  slots: Joi.object<SlotKind, true>({ summary: text }),
};

/** The rate classes of core: by method, one read for a whole stream, or not counted. */
export const CORE_RATES = ['read', 'write', 'stream', 'none'] as const;

/** First parts of paths that core serves itself. */
export const CORE_PATHS: Record<string, PathKind> = {
  '/api': { audience: 'programs' },
  '/.well-known': { audience: 'programs' },
  '/asyncapi.json': { audience: 'people', languages: false },
  '/assets': { audience: 'people', languages: false },
  '/docs': { audience: 'people' },
  '/en': { audience: 'people' },
  '/errors': { audience: 'people' },
  '/es': { audience: 'people' },
  '/favicon.ico': { audience: 'people', languages: false },
  '/health': { audience: 'people', languages: false },
  '/live': { audience: 'people', languages: false },
  '/metrics': { audience: 'people', languages: false },
  '/openapi.json': { audience: 'people', languages: false },
  '/problems': { audience: 'people' },
};

/** Returns what is wrong with the declarations of one plugin, a sentence each. */
export function declarationFaults(plugin: Plugin): string[] {
  const malformed = CATEGORIES.flatMap((category) => Object.entries(plugin[category] ?? {}).flatMap(([name, kind]) => formFault(category, name, kind)));
  if (malformed.length > 0) return malformed;
  const limits = plugin.limits ?? {};
  const loose = Object.entries(plugin.capabilities ?? {}).filter(([, { limit }]) => !Object.hasOwn(limits, limit)).map(([name, { limit }]) => `the capability "${name}" names the limit "${limit}", which the plugin does not declare`);
  const foreign = Object.keys(plugin.slots ?? {}).filter((name) => !name.startsWith(`${plugin.name}.`)).map((name) => `the slot "${name}" does not start with "${plugin.name}."`);
  const taken = [
    ...Object.keys(plugin.rates ?? {}).filter((name) => (CORE_RATES as readonly string[]).includes(name)).map((name) => `the rate class "${name}" belongs to core`),
    ...Object.keys(plugin.paths ?? {}).filter((name) => Object.hasOwn(CORE_PATHS, name)).map((name) => `the path "${name}" belongs to core`),
  ];
  return [...loose, ...foreign, ...taken];
}

function formFault(category: Category, name: string, kind: unknown): string[] {
  if (!NAMES[category].pattern.test(name)) return [`"${name}" in ${category}: use ${NAMES[category].form}`];
  if (name in {}) return [`"${name}" in ${category}: every object in JavaScript has a member of that name, so use another`];
  const { error } = KINDS[category].required().validate(kind, { convert: false });
  return error ? [`"${name}" in ${category}: ${error.message}`] : [];
}

/** Returns the capabilities of scopes and the rate classes of paths that none of these plugins declares, a sentence each. */
export function undeclaredReferences(plugins: Plugin[]): { plugin: string; fault: string }[] {
  const { scopes, capabilities, rates, paths } = vocabularyOf(plugins);
  return [
    ...[...scopes].flatMap(([name, { plugin, capability }]) => (capability === undefined || capabilities.has(capability) ? [] : [{ plugin, fault: `the scope "${name}" names the capability "${capability}", which no plugin that runs declares` }])),
    ...[...paths].flatMap(([name, { plugin, rate: named }]) => (named === undefined || rates.has(named) ? [] : [{ plugin, fault: `the path "${name}" names the rate class "${named}", which no plugin that runs declares` }])),
  ];
}

/** The limits and rate classes of plugins that do not run. Options that concern them may stay in the config file. */
export type OffDeclarations = Pick<Vocabulary, 'limits' | 'rates'>;

/** Returns the declarations of these plugins together. The first of two plugins that declare the same name keeps it. */
export function vocabularyOf(plugins: Plugin[]): Vocabulary {
  const all = CATEGORIES.map((category) => {
    const declared = new Map<string, object>();
    for (const plugin of plugins) {
      for (const [name, kind] of Object.entries(plugin[category] ?? {})) if (!declared.has(name)) declared.set(name, { ...kind, plugin: plugin.name });
    }
    return [category, declared];
  });
  return Object.fromEntries(all) as Vocabulary;
}

/** A name that two plugins declare. */
export interface SharedName {
  category: Category;
  name: string;
  plugins: [first: string, second: string];
}

export function sharedNames(plugins: Plugin[]): SharedName[] {
  const vocabulary = vocabularyOf(plugins);
  return plugins.flatMap((plugin) => CATEGORIES.flatMap((category) => Object.keys(plugin[category] ?? {})
    .map((name) => ({ name, owner: vocabulary[category].get(name)!.plugin }))
    .filter(({ owner }) => owner !== plugin.name)
    .map(({ name, owner }): SharedName => ({ category, name, plugins: [owner, plugin.name] }))));
}
