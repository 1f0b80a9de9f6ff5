import { definePlugin, Joi, type Reader, type Tx } from 'civic';

interface Entry {
  seq: number;
  text: string;
}

async function addEntry(tx: Tx, entry: Entry): Promise<void> {
  await tx('digest_entries').insert(entry);
}

function entries(read: Reader): Promise<Entry[]> {
  return read('digest_entries').select('seq', 'text').orderBy('key');
}

/** Hears of notes and keeps its own list of them: once each, in order. */
export default definePlugin({
  name: 'digest',
  summary: 'What was noted, in the order it was noted',
  needs: ['notes'],
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    civic.on('notes.written', (tx, event) => addEntry(tx, { seq: event.seq, text: event.payload.id }));
    civic.watch('notes.written', (event) => { civic.log.info({ note: event.payload.id }, 'Heard of a note'); });

    server.route({
      method: 'GET',
      path: '/api/digest',
      options: {
        description: 'The digest',
        validate: { query: Joi.object({}) },
        response: { schema: Joi.object({ data: Joi.array().items(Joi.object({ seq: Joi.number(), text: Joi.string() })).required() }).meta({ name: 'Digest' }) },
      },
      handler: async () => ({ data: await entries(civic.db.read) }),
    });
  },
});
