import { conditional, definePlugin, Failure, isId, Joi, listResponse, newId, pageOf, problem, weakEtag } from 'civic';
import * as store from './store.ts';

const note = Joi.object({
  id: Joi.string().required(),
  text: Joi.string().required(),
  created_at: Joi.string().isoDate().required(),
}).meta({ name: 'Note' });

const written = Joi.object({ id: Joi.string().required() });

declare module 'civic' {
  interface Services { notes: { textOf(id: string): Promise<string | null> } }
  interface Events { 'notes.written': { id: string } }
}

/** A plugin that uses most of what the contract offers; the tests of core stand on it. */
export default definePlugin<{ motto: string; secret: string | null }>({
  name: 'notes',
  summary: 'Notes anybody may leave',
  config: {
    motto: { doc: 'Shown above the notes.', format: String, default: 'Be kind' },
    secret: { doc: 'Signs nothing; it is here to be masked.', format: String, default: null, nullable: true, sensitive: true },
  },
  scopes: { 'notes:write': { label: 'Write notes' } },
  problems: {
    unknown_note: { status: 404, title: 'No such note', advice: 'List the notes at /api/notes.' },
  },
  events: {
    'notes.written': { summary: 'A note was left', version: 1, payload: written },
  },
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    const noteById = async (id: string): Promise<store.Note> => {
      const found = isId(id) ? await store.noteById(civic.db.read, id) : null;
      if (!found) throw problem('unknown_note', { detail: `No note has the id ${id}.` });
      return found;
    };
    const addNote = (text: string): Promise<store.Note> => civic.db.write(async (tx) => {
      const added = { id: newId(), text, created_at: civic.clock.iso() };
      await store.addNote(tx, added);
      await civic.emit(tx, 'notes.written', { id: added.id });
      return added;
    });

    civic.provide({ textOf: async (id: string) => (await store.noteById(civic.db.read, id))?.text ?? null });
    civic.check({ name: 'notes', readiness: true, run: async () => ({ status: 'ok', detail: `${await store.countNotes(civic.db.read)} notes` }) });
    civic.jobs.define<{ older_than: string }>({
      name: 'notes.tidy',
      payload: Joi.object({ older_than: Joi.string().isoDate().required() }),
      run: (job) => job.write(async (tx) => { await store.deleteNotesBefore(tx, job.payload.older_than); }),
    });

    civic.command({
      name: 'notes add',
      summary: 'Leave a note',
      arguments: '<text>',
      needs: 'database',
      writes: true,
      async run({ terminal, positionals }) {
        if (positionals[0] === 'bad') throw new Failure('That is not a nice thing to write');
        const added = await addNote(positionals[0]!);
        terminal.print(added, () => `Left the note ${added.id}`);
      },
    });
    civic.command({
      name: 'notes count',
      summary: 'How many notes there are',
      needs: 'database',
      async run({ terminal }) {
        const count = await store.countNotes(civic.db.read);
        terminal.print({ count }, () => String(count));
      },
    });

    server.route([
      {
        method: 'GET',
        path: '/api/notes',
        options: {
          description: 'The notes, oldest first',
          validate: {
            query: Joi.object({
              word: Joi.array().items(Joi.string()).single().max(20),
              limit: Joi.number().integer().min(1).max(100).default(25),
              cursor: Joi.string(),
            }),
          },
          plugins: { civic: { problems: ['invalid_cursor'] } },
          response: {
            schema: Joi.object({ data: Joi.array().items(note).required(), total: Joi.number().required(), next_cursor: Joi.string().allow(null).required(), motto: Joi.string().required() }).meta({ name: 'Notes' }),
          },
        },
        handler: async (request, h) => {
          const page = pageOf<{ word?: string[] }>(request, ['integer']);
          const { rows, total } = await civic.db.snapshot((tx) => store.notesPage(tx, page.query.word ?? [], page.after?.[0] as number | undefined, page.limit));
          const last = rows.length > page.limit ? rows[page.limit - 1]! : null;
          const data = rows.slice(0, page.limit).map(({ key: _key, ...shown }) => shown);
          return listResponse(request, h, page, { data, total, next: last && [last.key], extra: { motto: civic.config.motto } });
        },
      },
      {
        method: 'GET',
        path: '/api/notes/{id}',
        options: {
          description: 'One note',
          validate: { query: Joi.object({}), params: Joi.object({ id: Joi.string() }) },
          plugins: { civic: { problems: ['unknown_note'], conditional: true } },
          response: { schema: note },
        },
        handler: async (request, h) => {
          const found = await noteById(String(request.params.id));
          return conditional(request, h, { etag: weakEtag(found.id), contentLocation: `/api/notes/${found.id}` }, () => found);
        },
      },
      {
        method: 'POST',
        path: '/api/notes',
        options: {
          description: 'Leave a note',
          validate: { query: Joi.object({}), payload: Joi.object({ text: Joi.string().trim().min(1).max(500).required() }) },
          response: { status: { 201: note } },
        },
        handler: async (request, h) => {
          const added = await addNote((request.payload as { text: string }).text);
          return h.response(added).code(201).header('location', civic.url(`/api/notes/${added.id}`));
        },
      },
      {
        method: 'DELETE',
        path: '/api/notes/{id}',
        options: {
          description: 'Take a note away',
          auth: { mode: 'required', access: { scope: ['notes:write'] } },
          validate: { query: Joi.object({}), params: Joi.object({ id: Joi.string() }) },
          plugins: { civic: { problems: ['unknown_note'], role: 'reviewer' } },
          response: { status: { 204: Joi.any() } },
        },
        handler: async (request, h) => {
          const found = await noteById(String(request.params.id));
          await civic.db.write((tx) => store.deleteNote(tx, found.id));
          return h.response().code(204);
        },
      },
    ]);
  },
});
