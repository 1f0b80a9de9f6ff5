import type { ServerRoute } from '@hapi/hapi';
import { Joi } from 'civic';
import { CAPABILITIES, type Plan, type Plans } from './plans.ts';

const count = Joi.number().integer().required();

const plan = Joi.object<Plan, true>({
  name: Joi.string().required(),
  price: Joi.string().allow('').required(),
  requests_per_minute: count,
  requests_per_day: count,
  keys: count.description('How many API keys can be in use at once'),
  runs_per_month: count.description('How many discovery runs can be started'),
  streams: count.description('How many Firehose streams can be open at once'),
  sessions: count.description('How many Firehose sessions can be kept'),
  watched_sources: count,
  days: Joi.number().integer().allow(null).required().description('How long it lasts once given; null when it does not end by itself'),
  capabilities: Joi.array().items(Joi.string().valid(...CAPABILITIES)).required(),
}).meta({ name: 'Plan' });

export function planRoutes({ plans, defaultPlan }: { plans: Plans; defaultPlan: string }): ServerRoute[] {
  return [{
    method: 'GET',
    path: '/api/plans',
    options: {
      description: 'The plans of this instance and what each includes',
      notes: 'What the operator configured under `plugins.accounts.plans`: limits, capabilities and price.',
      validate: { query: Joi.object({}) },
      response: {
        schema: Joi.object({
          data: Joi.array().items(plan).required(),
          total: Joi.number().required(),
          next_cursor: Joi.any().valid(null).required(),
          default_plan: Joi.string().required().description('The plan of new accounts'),
        }).meta({ name: 'PlanList' }),
      },
    },
    handler: () => ({ data: plans.all, total: plans.all.length, next_cursor: null, default_plan: defaultPlan }),
  }];
}
