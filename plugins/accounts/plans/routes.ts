import type { ServerRoute } from '@hapi/hapi';
import { Joi, type Vocabulary } from 'civic';
import type { Plan, Plans } from './plans.ts';

const count = Joi.number().integer().required();

/** A plan on the wire has its limits beside its name. */
function planSchema({ limits, capabilities }: Vocabulary): Joi.ObjectSchema {
  return Joi.object({
    name: Joi.string().required(),
    price: Joi.string().allow('').required(),
    ...Object.fromEntries([...limits].map(([limit, { doc }]) => [limit, count.description(doc)])),
    days: Joi.number().integer().allow(null).required().description('How long it lasts once given; null when it does not end by itself'),
    capabilities: Joi.array().items(Joi.string().valid(...capabilities.keys())).required(),
  }).meta({ name: 'Plan' });
}

function wirePlan({ name, price, limits, days, capabilities }: Plan): object {
  return { name, price, ...limits, days, capabilities };
}

export function planRoutes({ plans, defaultPlan, vocabulary }: { plans: Plans; defaultPlan: string; vocabulary: Vocabulary }): ServerRoute[] {
  return [{
    method: 'GET',
    path: '/api/plans',
    options: {
      description: 'The plans of this instance and what each includes',
      notes: 'What the operator configured under `plugins.accounts.plans`: price, capabilities, and the limits of the plugins that run.',
      validate: { query: Joi.object({}) },
      response: {
        schema: Joi.object({
          data: Joi.array().items(planSchema(vocabulary)).required(),
          total: Joi.number().required(),
          next_cursor: Joi.any().valid(null).required(),
          default_plan: Joi.string().required().description('The plan of new accounts'),
        }).meta({ name: 'PlanList' }),
      },
    },
    handler: () => ({ data: plans.all.map(wirePlan), total: plans.all.length, next_cursor: null, default_plan: defaultPlan }),
  }];
}
