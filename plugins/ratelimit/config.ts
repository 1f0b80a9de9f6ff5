import { Joi, type ConfigFragment, type OffDeclarations, type Vocabulary } from 'civic';

/** The requests that one client address may make of a class. */
export interface ClassLimits {
  requests_per_minute: number;
  requests_per_hour: number;
}

export interface RatelimitConfig {
  anonymous: { reads_per_minute: number; writes_per_minute: number; requests_per_hour: number };
  without_plan: { requests_per_minute: number; requests_per_day: number };
  pages: ClassLimits;
  assets: ClassLimits;
  well_known: ClassLimits;
  patience_ms: number;
  /** One section for each rate class that a plugin declares, with ClassLimits. */
  [rateClass: string]: unknown;
}

const count = Joi.number().integer().min(1).max(1_000_000_000);

function classOptions(what: string, minute: number, hour: number): ConfigFragment {
  return {
    requests_per_minute: { doc: `Requests a minute for ${what}, by each client address or account.`, format: count, default: minute },
    requests_per_hour: { doc: `Requests an hour for ${what}, by each client address or account.`, format: count, default: hour },
  };
}

/** The sections of classes whose plugin is off may stay in the config file, and do nothing. */
export function ratelimitOptions({ rates }: Vocabulary, off: OffDeclarations): ConfigFragment {
  const declared = [...off.rates, ...rates].map(([name, { label, per_minute: minute, per_hour: hour }]) => [name, classOptions(label, minute, hour)]);
  return { ...Object.fromEntries(declared), ...ownOptions };
}

const ownOptions: ConfigFragment = {
  anonymous: {
    reads_per_minute: { doc: 'Reads of /api a minute without an account, for each client address.', format: count, default: 30 },
    writes_per_minute: { doc: 'Writes to /api a minute without an account, for each client address.', format: count, default: 10 },
    requests_per_hour: { doc: 'Requests of both kinds an hour without an account, for each client address.', format: count, default: 120 },
  },
  without_plan: {
    requests_per_minute: { doc: 'Requests of an account a minute, where no plugin says what its plan allows.', format: count, default: 60 },
    requests_per_day: { doc: 'Requests of an account a day, where no plugin says what its plan allows.', format: count, default: 2000 },
  },
  pages: classOptions('pages', 300, 6000),
  assets: classOptions('styles, scripts and pictures', 1200, 20_000),
  well_known: classOptions('/.well-known', 600, 6000),
  patience_ms: { doc: 'How many milliseconds the nodes wait for their shared counters in Postgres before each decides by its own.', format: Joi.number().integer().min(1).max(10_000), default: 50 },
};

/** Names that a plugin cannot give to a rate class: they are options of this plugin, or the class of the API. */
export const RESERVED_CLASSES = ['api', 'enabled', 'from', ...Object.keys(ownOptions)];
