import { createHash } from 'node:crypto';
import { parseUrl } from 'civic';
import type { SourceRow } from '../ledger/rows.ts';
import type { Actor, ActorType, Property, SourceKind } from '../types.ts';

/** Properties that the policy can keep private. All others are what lists, counters and the search are made of. */
export const POLICED = ['website', 'email', 'phone', 'social', 'identifier', 'event_location'] as const satisfies readonly Property[];
/** `official` means: public when the source of the claim is official. */
export const RULES = ['public', 'official', 'private'] as const;

type Policed = (typeof POLICED)[number];
export type Rule = (typeof RULES)[number];
export type FieldRules = Partial<Record<ActorType, Partial<Record<Policed, Rule>>>>;

/** Rules for properties that the config file does not name; a property without a rule is public. */
export const DEFAULT_RULES: FieldRules = { person: { phone: 'official' } };

/** Kinds of sources in which organizations and governments publish how to reach the people who work for them. */
export const OFFICIAL_KINDS: readonly SourceKind[] = ['government_record', 'org_website', 'dataset'];
const OFFICIAL_HOST = /\.(gov|mil)$/;

/** All stamps are below it. */
export const STAMPS = 1_000_000;

type Origin = Pick<SourceRow, 'kind' | 'url'>;
type Shown = Pick<Actor, 'type' | 'visibility'>;

/** Claims of a property about public actors of a type. */
export interface HiddenField {
  type: ActorType;
  property: Policed;
}

/** Decides which claims about public actors are public. Actors of a workspace are not affected. */
export interface FieldPolicy {
  /** Differs between policies. Rows of the read model have it, so that rows of another policy are recognized. */
  stamp: number;
  rules: { type: ActorType; property: Policed; rule: Exclude<Rule, 'public'> }[];
  ruleOf(type: ActorType, property: Property): Rule;
  hides(actor: Shown, property: Property, source: Origin): boolean;
  /** Returns which claims of a source are hidden. */
  hiddenFrom(source: Origin): HiddenField[];
  /** Removes from an actor whatever may be hidden: for rows that were derived under another policy. */
  redact(actor: Omit<Actor, 'url'>): void;
}

export function createFieldPolicy(given: FieldRules): FieldPolicy {
  const types = [...new Set([...Object.keys(DEFAULT_RULES), ...Object.keys(given)])].sort() as ActorType[];
  const merged = new Map(types.map((type) => [type, new Map(Object.entries({ ...DEFAULT_RULES[type], ...given[type] }) as [Policed, Rule][])]));
  const rules = types.flatMap((type) => [...merged.get(type)!].sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([property, rule]) => (rule === 'public' ? [] : [{ type, property, rule }])));
  const ruleOf = (type: ActorType, property: Property): Rule => merged.get(type)?.get(property as Policed) ?? 'public';
  return {
    stamp: createHash('sha256').update(JSON.stringify(rules)).digest().readUInt32BE() % STAMPS,
    rules,
    ruleOf,
    hides({ type, visibility }, property, source) {
      const rule = visibility === 'public' ? ruleOf(type, property) : 'public';
      return rule === 'private' || (rule === 'official' && !isOfficial(source));
    },
    hiddenFrom: (source) => rules.filter(({ rule }) => rule === 'private' || !isOfficial(source)),
    redact(actor) {
      if (actor.visibility !== 'public') return;
      const isKept = (property: Policed): boolean => ruleOf(actor.type, property) === 'public';
      const { contact, event } = actor;
      for (const property of ['website', 'email', 'phone'] as const) if (!isKept(property)) contact[property] = null;
      if (!isKept('social')) contact.social = [];
      if (!isKept('identifier')) actor.identifiers = [];
      if (event && !isKept('event_location')) event.location = null;
    },
  };
}

function isOfficial({ kind, url }: Origin): boolean {
  return OFFICIAL_KINDS.includes(kind) || OFFICIAL_HOST.test(parseUrl(url)?.hostname ?? '');
}
