import Joi from 'joi';
import { definePlugin } from '../../core/plugin.ts';

/** A plugin with one route of each kind, so that rules about every route can be seen without the plugins of the kit. */
export const probe = definePlugin({
  name: 'probe',
  summary: 'Routes to try the rules of the interface on',
  register(server) {
    server.route([
      {
        method: 'GET', path: '/api/probe',
        handler: () => ({ data: [], total: 0, next_cursor: null }),
        options: {
          description: 'A list for everybody',
          validate: { query: Joi.object({ limit: Joi.number().integer().min(1).max(200).default(50) }) },
          response: { schema: Joi.object({ data: Joi.array().required(), total: Joi.number().required(), next_cursor: Joi.string().allow(null).required() }) },
        },
      },
      {
        method: 'POST', path: '/api/probe',
        handler: (request, h) => h.response(request.payload as object).code(201),
        options: {
          description: 'Takes a body from everybody',
          validate: { query: Joi.object({}), payload: Joi.object({ reason: Joi.string().required() }) },
          response: { status: { 201: Joi.object({ reason: Joi.string().required() }) } },
        },
      },
      {
        method: 'GET', path: '/api/probe/secret',
        handler: () => ({ secret: true }),
        options: {
          description: 'For known callers only',
          auth: { mode: 'required' },
          validate: { query: Joi.object({}) },
          response: { schema: Joi.object({ secret: Joi.boolean().required() }) },
        },
      },
    ]);
  },
});
