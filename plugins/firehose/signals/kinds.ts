import { Joi } from 'civic';
import type { ObjectSchema } from 'joi';
import { FAMILIES, SIGNAL_TYPES, type BuiltInType, type Family, type SignalDraft, type SignalKind, type SignalType } from '../types.ts';
import { BUILT_IN_KINDS } from './built-in.ts';

/** The types of signals of this instance: the built-in ones, and those that plugins declare. */
export interface SignalKinds {
  declare(plugin: string, kinds: Record<string, SignalKind>): void;
  produce(types: readonly BuiltInType[]): void;
  /** Ends declarations: schemas and routes are built from them now. */
  close(): void;
  /** The types that a plugin publishes, for the contracts. */
  announced(): SignalType[];
  isAnnounced(type: SignalType): boolean;
  /** The types that a query may name. */
  queryable(): SignalType[];
  /** Null for a type that no running plugin declares. */
  of(type: SignalType): KnownKind | null;
  /** The types about the upkeep of the directory: new and changed sources, freshness, merges, gaps in coverage, reports. */
  upkeep(): SignalType[];
  /** The schemas of facts, by type. */
  factsSchemas(): ReadonlyMap<SignalType, ObjectSchema>;
  /** Returns the facts of a draft as they are stored. Throws `NoSignal` when its type does not allow them. */
  checkedFacts(draft: Pick<SignalDraft, 'type' | 'facts'>): SignalDraft['facts'];
  /** Returns the facts of another instance's signal without members that are unknown here, which a newer version of the plugin may have. */
  relayedFacts(draft: Pick<SignalDraft, 'type' | 'facts'>): SignalDraft['facts'];
}

/** A declared type. The labels of built-in types are in the catalogue of texts. */
export type KnownKind = Omit<SignalKind, 'label'> & Partial<Pick<SignalKind, 'label'>>;

/** Thrown before a signal is written. */
export class NoSignal extends Error {}

export const TYPE_NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const OWN = 'firehose';
const UPKEEP: ReadonlySet<Family> = new Set(['sources', 'review']);

const kindSchema = Joi.object<SignalKind>({
  label: Joi.string().trim().max(60).required(),
  family: Joi.valid(...FAMILIES),
  icon: Joi.string().max(2000).pattern(/^M[-MLHVCSQTAZ\d\s.,+e]+$/i).messages({ 'string.pattern.base': '{{#label}} must be SVG path data such as "M3 5h14v12H3z"' }),
  facts: Joi.custom((value: unknown, { error }) => (isObjectSchema(value) ? value : error('facts'))).messages({ facts: '{{#label}} must be a schema made with Joi.object' }),
});

export function createSignalKinds(): SignalKinds {
  const declared = new Map<SignalType, { plugin: string; kind: KnownKind }>(SIGNAL_TYPES.map((type) => [type, { plugin: OWN, kind: BUILT_IN_KINDS[type] }]));
  const schemas = new Map<SignalType, ObjectSchema>();
  const announced = new Set<SignalType>();
  let isOpen = true;

  function declareOne(plugin: string, type: string, kind: SignalKind): void {
    if (!isOpen) throw new Error(`The plugin ${plugin} declares the signal type "${type}" too late: call signalTypes in register`);
    if (!TYPE_NAME.test(type)) throw new Error(`The plugin ${plugin} cannot declare the signal type "${type}": use words in snake_case`);
    const owner = declared.get(type)?.plugin;
    if (owner !== undefined) throw new Error(`The plugin ${plugin} cannot declare the signal type "${type}": ${owner === OWN ? 'it is built into the plugin firehose' : `the plugin ${owner} declares it`}`);
    const { error } = kindSchema.validate(kind, { convert: false });
    if (error) throw new Error(`The signal type "${type}" of the plugin ${plugin} is invalid: ${error.message}`);
    declared.set(type, { plugin, kind });
    if (kind.facts) schemas.set(type, kind.facts.required().label('facts').meta({ name: factsName(type) }));
    announced.add(type);
  }

  function validFacts({ type, facts }: Pick<SignalDraft, 'type' | 'facts'>, stripUnknown: boolean): SignalDraft['facts'] {
    const { value, error } = schemas.get(type)!.validate(facts, { convert: false, stripUnknown });
    if (error) throw new NoSignal(`Invalid signal: the facts of ${type} do not match its schema: ${error.message}`);
    return value as SignalDraft['facts'];
  }

  return {
    declare(plugin, kinds) { for (const [type, kind] of Object.entries(kinds)) declareOne(plugin, type, kind); },
    produce(types) { for (const type of types) announced.add(type); },
    close() { isOpen = false; },
    announced: () => [...announced].sort(),
    isAnnounced: (type) => announced.has(type),
    queryable: () => [...declared.keys()],
    of: (type) => declared.get(type)?.kind ?? null,
    upkeep: () => [...declared].filter(([, { kind }]) => UPKEEP.has(kind.family ?? 'other')).map(([type]) => type),
    factsSchemas: () => schemas,
    checkedFacts(draft) {
      const { type, facts } = draft;
      if (!declared.has(type)) throw new NoSignal(`Invalid signal: no plugin declares the type "${type}"; call signalTypes in register`);
      if (schemas.has(type)) return validFacts(draft, false);
      if (facts !== undefined) throw new NoSignal(`Invalid signal: the type ${type} has no facts`);
      return undefined;
    },
    relayedFacts: (draft) => (schemas.has(draft.type) ? validFacts(draft, true) : undefined),
  };
}

/** Returns the name of a schema in the contracts: `HeronCountFacts`. An underscore before a digit stays, so that `a_1` and `a1` differ. */
export function factsName(type: SignalType): string {
  return `${type.replaceAll(/(?:^|_)[a-z]/g, (start) => start.slice(-1).toUpperCase())}Facts`;
}

function isObjectSchema(value: unknown): boolean {
  return Joi.isSchema(value) && (value as { type?: unknown }).type === 'object';
}
