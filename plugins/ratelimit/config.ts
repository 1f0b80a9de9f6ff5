import { Joi, type ConfigFragment } from 'civic';

/** What one client address may ask of a part of the site. */
export interface AreaLimits {
  requests_per_minute: number;
  requests_per_hour: number;
}

export interface RatelimitConfig {
  anonymous: { reads_per_minute: number; writes_per_minute: number; requests_per_hour: number };
  without_plan: { requests_per_minute: number; requests_per_day: number };
  pages: AreaLimits;
  assets: AreaLimits;
  sign_in: AreaLimits;
  oauth: AreaLimits;
  mcp: AreaLimits;
  well_known: AreaLimits;
  patience_ms: number;
}

const count = Joi.number().integer().min(1).max(1_000_000_000);

function area(what: string, minute: number, hour: number): ConfigFragment {
  return {
    requests_per_minute: { doc: `Requests a minute for ${what}.`, format: count, default: minute },
    requests_per_hour: { doc: `Requests an hour for ${what}.`, format: count, default: hour },
  };
}

export const ratelimitOptions: ConfigFragment = {
  anonymous: {
    reads_per_minute: { doc: 'Reads of /api a minute without an account, for each client address.', format: count, default: 30 },
    writes_per_minute: { doc: 'Writes to /api a minute without an account, for each client address.', format: count, default: 10 },
    requests_per_hour: { doc: 'Requests of both kinds an hour without an account, for each client address.', format: count, default: 120 },
  },
  without_plan: {
    requests_per_minute: { doc: 'Requests of an account a minute, where no plugin says what its plan allows.', format: count, default: 60 },
    requests_per_day: { doc: 'Requests of an account a day, where no plugin says what its plan allows.', format: count, default: 2000 },
  },
  pages: area('pages, by each client address or signed-in account', 300, 6000),
  assets: area('styles, scripts and pictures, by each client address', 1200, 20_000),
  sign_in: area('signing in, by each client address', 30, 200),
  oauth: area('/oauth, by each client address', 60, 1000),
  mcp: area('/mcp without a token, by each client address; with one the plan counts', 30, 300),
  well_known: area('/.well-known, by each client address', 120, 2000),
  patience_ms: { doc: 'How many milliseconds the nodes wait for their shared counters in Postgres before each decides by its own.', format: Joi.number().integer().min(1).max(10_000), default: 50 },
};
