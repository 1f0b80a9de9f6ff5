import type { ServerRoute } from '@hapi/hapi';
import { Joi } from 'civic';
import type { Discovery } from '../context.ts';
import { reading } from '../runs/routes.ts';
import { RUNS } from '../runs/runs.ts';
import { proposedRuns } from './proposals.ts';

const proposalList = Joi.object({
  data: Joi.array().items(Joi.object({
    place: Joi.string().required().description('The key of the place'),
    location: Joi.string().required(),
    issue_areas: Joi.array().items(Joi.string()).required(),
    depth: Joi.string().valid('standard').required(),
    reason: Joi.string().valid('missing', 'stale').required().description('`missing`: other places have actors of these issue areas, this one has none. `stale`: most of what is known about the place is old'),
    entity_count: Joi.number().integer().min(0).required().description('How many public actors the place has'),
  }).meta({ name: 'ProposedRun' })).required(),
  total: Joi.number().integer().min(0).required(),
  next_cursor: Joi.valid(null).required(),
});

export function proposalRoutes(discovery: Discovery): ServerRoute[] {
  return [{
    method: 'GET',
    path: `${RUNS}/proposals`,
    options: {
      description: 'Runs that gaps of the directory suggest',
      notes: 'For reviewers. `location`, `issue_areas` and `depth` are the body of `POST /api/discovery-runs?visibility=public`, which starts the run.',
      auth: reading,
      validate: { query: Joi.object({}) },
      plugins: { civic: { role: 'reviewer' } },
      response: { schema: proposalList },
    },
    async handler() {
      const data = await proposedRuns(discovery, discovery.civic.db.read);
      return { data, total: data.length, next_cursor: null };
    },
  }];
}
