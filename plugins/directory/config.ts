import { Joi, type ConfigFragment } from 'civic';
import type { HalfLives } from './actors/freshness.ts';
import { taxonomyOptions } from './taxonomy/file.ts';
import { POLICED, RULES, type FieldRules } from './policy/fields.ts';
import { ACTOR_TYPES, PROPERTIES } from './types.ts';

export interface DirectoryConfig {
  taxonomy_file: string | null;
  half_life_days: Partial<HalfLives>;
  field_policy: FieldRules;
  unlisted_key: string | null;
  cache_megabytes: number;
  uploads: { active: number; kept: number; megabytes: number };
}

/** A phone number changes sooner than a name; a meeting is over when it is over. */
export const HALF_LIVES: HalfLives = {
  name: 730, description: 365, type: 730, place: 365, issue_area: 365, website: 365, email: 180, phone: 180, social: 365, identifier: 730,
  affiliation: 365, status: 365, event_start: 30, event_end: 30, event_location: 30,
};

const halfLives = Joi.object(Object.fromEntries(PROPERTIES.map((property) => [property, Joi.number().integer().min(1).max(36500)])));

const fieldRules = Joi.object(Object.fromEntries(ACTOR_TYPES.map((type) => [type, Joi.object(Object.fromEntries(POLICED.map((property) => [property, Joi.string().valid(...RULES)])))])));

export const directoryOptions: ConfigFragment = {
  ...taxonomyOptions,
  half_life_days: {
    doc: 'After so many days without being seen again a claim about a property is no longer fresh, after twice as many it is stale: `phone: 90`. Those left out keep their own.',
    format: halfLives as never,
    default: {},
  },
  field_policy: {
    doc: 'Which contact data of public actors is public, by type of actor: `person: { phone: private }`. `official` is public when the source is a government record, a website of an organization, a data set, or a .gov or .mil page. The phone of people is `official` unless set; all else is public.',
    format: fieldRules as never,
    default: {},
  },
  unlisted_key: {
    doc: 'The key of the hashes in the register of people who asked not to be listed, 32 characters or more; null keeps one in the file unlisted.key of the data folder. Several nodes need the same.',
    format: Joi.string().min(32),
    nullable: true,
    default: null,
    sensitive: true,
  },
  cache_megabytes: {
    doc: 'How much memory ready-made answers may take.',
    format: 'nat',
    default: 64,
  },
  uploads: {
    active: {
      doc: 'How many imports that were sent to /api/imports an account may have waiting or running; the next one is 429.',
      format: Joi.number().integer().min(1).max(1000),
      default: 5,
    },
    kept: {
      doc: 'How many imports of an account are kept with their report; the oldest that has ended is deleted first, all after 30 days.',
      format: Joi.number().integer().min(1).max(100_000),
      default: 100,
    },
    megabytes: {
      doc: 'How much disk the uploads of an account may take: files that wait or are read, and rejected rows, of which the oldest are deleted first.',
      format: Joi.number().integer().min(32).max(1_000_000),
      default: 256,
    },
  },
};
