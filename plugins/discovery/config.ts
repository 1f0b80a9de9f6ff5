import { Joi, type ConfigFragment } from 'civic';
import type { ModelConfig } from './extract/model.ts';
import { DEPTHS } from './runs/store.ts';
import { PERIODS, type Schedule } from './schedules/schedules.ts';
import type { SearchConfig } from './search/engines.ts';

export interface DiscoveryConfig {
  pages_at_once: number;
  model: ModelConfig;
  search: SearchConfig;
  schedules: Schedule[];
  page_days: number;
}

const schedule = Joi.object({
  location: Joi.string().max(200).required(),
  issue_areas: Joi.array().items(Joi.string().max(100)).min(1).max(50).unique().required(),
  depth: Joi.string().valid(...DEPTHS).default('standard'),
  every: Joi.string().valid(...PERIODS).default('monthly'),
});

export const discoveryOptions: ConfigFragment = {
  pages_at_once: { doc: 'How many pages of different hosts one run reads at once.', format: Joi.number().integer().min(1).max(16) as never, default: 4 },
  model: {
    url: { doc: 'The address of a language model for names that rules do not find, before /chat/completions, such as http://localhost:11434/v1; empty uses none. The text of public pages is sent to it.', format: Joi.string().uri({ scheme: ['http', 'https'] }).allow('') as never, default: '' },
    name: { doc: 'The name of the model on that server.', format: Joi.string().max(200).allow('') as never, default: '' },
    api_key: { doc: 'The key of that server, if it asks for one.', format: Joi.string().max(500).allow('') as never, default: '', sensitive: true },
  },
  search: {
    searxng_url: { doc: 'The address of a SearXNG instance that finds pages for runs, such as https://search.example.org; empty uses none. Its settings.yml has json among the formats of search. The place and words of the issue areas are sent to it.', format: Joi.string().uri({ scheme: ['http', 'https'] }).allow('') as never, default: '' },
    brave_key: { doc: 'A key of the Brave Search API, which finds pages for runs; empty uses none. The place and words of the issue areas are sent to it.', format: Joi.string().max(500).allow('') as never, default: '', sensitive: true },
  },
  schedules: { doc: 'Runs of the operator that start by themselves: a list with a location, issue_areas, depth (standard or deep) and every (weekly, monthly or quarterly). Reviewers of the instance decide about what they find.', format: Joi.array().items(schedule).max(200) as never, default: [] },
  page_days: { doc: 'How many days the pages of a run are kept after it ended, and its undecided candidates with a low score.', format: Joi.number().integer().min(1).max(3650) as never, default: 180 },
};
