// @ts-check
import { definePlugin, Joi } from 'civic';
import { addGreeting, latestGreetings } from './store.js';

const greeting = Joi.object({
  id: Joi.string().required(),
  text: Joi.string().required(),
  created_at: Joi.string().isoDate().required(),
}).meta({ name: 'HelloGreeting' });

// What both the route and the tool for assistants take and return.
const limit = Joi.number().integer().min(1).max(100).default(25).description('How many greetings');
const greetings = Joi.object({ data: Joi.array().items(greeting).required() }).meta({ name: 'HelloGreetings' });

export default definePlugin({
  name: 'hello',
  summary: 'Greets people by name and remembers whom it greeted',
  config: {
    word: { doc: 'The word that comes before the name.', format: String, default: 'Hello' },
  },
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    server.route({
      method: 'GET',
      path: '/api/hello',
      options: {
        description: 'The latest greetings, newest first',
        validate: { query: Joi.object({ limit }) },
        response: { schema: greetings },
      },
      handler: async (request) => {
        const query = /** @type {{ limit: number }} */ (request.query);
        return { data: await latestGreetings(civic.db.read, query.limit) };
      },
    });

    civic.tool({
      name: 'list_hello_greetings',
      title: 'List greetings',
      description: 'Returns the latest greetings, newest first.',
      readOnly: true,
      destructive: false,
      input: Joi.object({ limit }),
      output: greetings,
      run: async (input) => {
        const data = await latestGreetings(civic.db.read, input.limit);
        return { data: { data }, text: data.map(({ text }) => `- ${text}`).join('\n') || 'No greetings yet.' };
      },
    });

    server.route({
      method: 'POST',
      path: '/api/hello',
      options: {
        description: 'Greets somebody',
        validate: { query: Joi.object({}), payload: Joi.object({ name: Joi.string().trim().min(1).max(80).required() }) },
        response: { status: { 201: greeting } },
      },
      handler: async (request, h) => {
        const { name } = /** @type {{ name: string }} */ (request.payload);
        const created = await civic.db.write((tx) => addGreeting(tx, `${civic.config.word}, ${name}!`, civic.clock.iso()));
        return h.response(created).code(201);
      },
    });
  },
});
