import { definePlugin, Joi } from 'civic';
import { setTimeout as sleep } from 'node:timers/promises';
import { SIGNAL_TYPES, type SignalDraft } from '../../../plugins/firehose/types.ts';

interface Body {
  signals: SignalDraft[];
  withdraw: string[];
  /** Keeps the transaction open so long before it commits, so that others overtake it. */
  hold_ms: number;
}

/** Publishes and takes back whatever it is sent, in one transaction, so that tests can be any producer. */
export default definePlugin({
  name: 'wire',
  summary: 'Publishes signals over HTTP',
  needs: ['firehose'],

  register(server, civic) {
    const firehose = civic.service('firehose');
    firehose.produces(SIGNAL_TYPES);
    server.route({
      method: 'POST',
      path: '/api/wire',
      options: {
        description: 'Publishes signals and takes others back',
        plugins: { civic: { rate: 'none' } },
        validate: {
          query: Joi.object({}),
          payload: Joi.object({
            signals: Joi.array().items(Joi.object().unknown()).default([]),
            withdraw: Joi.array().items(Joi.string()).default([]),
            hold_ms: Joi.number().integer().min(0).max(200).default(0),
          }),
        },
        response: { status: { 201: Joi.object({ ids: Joi.array().items(Joi.string()).required() }) } },
      },
      handler: async (request, h) => {
        const { signals, withdraw, hold_ms } = request.payload as Body;
        const ids = await civic.db.write(async (tx) => {
          const published = await firehose.publish(tx, signals);
          await firehose.withdraw(tx, withdraw);
          if (hold_ms > 0) await sleep(hold_ms);
          return published;
        });
        return h.response({ ids }).code(201);
      },
    });
  },
});
