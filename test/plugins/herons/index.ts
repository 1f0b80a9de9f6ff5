import { definePlugin, Joi } from 'civic';

const facts = Joi.object({
  birds: Joi.number().integer().min(0).required().label('Birds counted'),
  site: Joi.string().max(200).required().description('Site'),
  observed_at: Joi.string().isoDate(),
  water_level: Joi.number().unit('cm'),
  nests: Joi.object({ occupied: Joi.number().integer().min(0), empty: Joi.number().integer().min(0) }),
  species: Joi.array().items(Joi.string()),
  ringed: Joi.boolean(),
  report: Joi.string().uri({ scheme: ['http', 'https'] }).label('Report'),
});

/** Declares a type of signal with facts, and one without. The plugin `wire` publishes them. */
export default definePlugin({
  name: 'herons',
  summary: 'Counts of herons',
  needs: ['firehose'],

  register(_server, civic) {
    civic.service('firehose').signalTypes('herons', {
      heron_count: { label: 'Heron count', family: 'records', icon: 'M4 16c4 0 6-2 6-6V5l4-1 M10 8c3 0 5 2 5 5h-5 M9 16v2', facts },
      heron_alert: { label: 'Heron alert' },
    });
  },
});
