import type { ServerRoute } from '@hapi/hapi';
import { Joi, problem } from 'civic';
import { callerOf, checkMayChange, editorOf, maySee } from '../access.ts';
import { actorRecord, lockedRecords } from './edit.ts';
import { judgementById, judgementsAmong, standingBetween } from './judgements-store.ts';
import type { WriteContext } from './routes.ts';
import type { JudgementRow, RecordRow } from './rows.ts';
import { recordsByKey, recordsOfActors } from './store.ts';

const VERDICTS = ['same', 'different', 'unsure'] as const;
const writer = { mode: 'required' as const, access: { scope: ['entities:write'] } };
const id = Joi.string().required();

const judgement = Joi.object({
  id,
  left_id: id.description('With the verdict `same`, the record that joined the other'),
  right_id: id,
  verdict: Joi.string().valid(...VERDICTS).required(),
  reason: Joi.string().allow(null).required(),
  score: Joi.number().allow(null).required().description('The confidence of an automatic judgement'),
  by: Joi.string().required().description('The kind of editor, never the account'),
  at: Joi.string().isoDate().required(),
  taken_back_at: Joi.string().isoDate().allow(null).required(),
}).meta({ name: 'Judgement' });

/** Who is one with whom, and who is not, as somebody decided. */
export function judgementRoutes({ civic, ledger }: WriteContext): ServerRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/entities/{id}/judgements',
      options: {
        description: 'The judgements about an actor, also those that were undone',
        notes: 'Judgements that name an actor the caller may not see are left out.',
        auth: writer,
        validate: { query: Joi.object({}), params: Joi.object({ id: Joi.string() }) },
        plugins: { civic: { problems: ['unknown_actor'] } },
        response: { schema: Joi.object({ data: Joi.array().items(judgement).required(), total: Joi.number().required(), next_cursor: Joi.any().valid(null).required() }).meta({ name: 'JudgementList' }) },
      },
      handler: (request) => civic.db.snapshot(async (tx) => {
        const sees = (one: RecordRow) => maySee(one, callerOf(request));
        const record = await actorRecord(tx, String(request.params.id), civic.url, sees);
        const keys = (await recordsOfActors(tx, [record.key])).map(({ key }) => key);
        const rows = await judgementsAmong(tx, keys);
        const records = new Map((await recordsByKey(tx, [...new Set(rows.flatMap(({ left_key, right_key }) => [left_key, right_key]))])).map((one) => [one.key, one]));
        // An actor that was published may have been compared with others that are still private.
        const data = rows.filter(({ left_key, right_key }) => sees(records.get(left_key)!) && sees(records.get(right_key)!)).map((row) => told(row, records));
        return { data, total: data.length, next_cursor: null };
      }),
    },
    {
      method: 'POST',
      path: '/api/judgements',
      options: {
        description: 'Decide about two actors: `different` is remembered and they are never proposed again; `same` merges the left into the right',
        notes: 'Both actors must be ones that the caller may change.',
        auth: writer,
        validate: {
          query: Joi.object({}),
          payload: Joi.object({ left_id: id, right_id: id, verdict: Joi.string().valid(...VERDICTS).required(), reason: Joi.string().trim().max(2000).allow(null).default(null) }).meta({ name: 'NewJudgement' }),
        },
        plugins: { civic: { problems: ['unknown_actor', 'same_actor', 'merge_conflict', 'permission_required'] } },
        response: { status: { 201: judgement } },
      },
      async handler(request, h) {
        const caller = callerOf(request)!;
        const asked = request.payload as { left_id: string; right_id: string; verdict: JudgementRow['verdict']; reason: string | null };
        const made = await civic.db.write(async (tx) => {
          const records = await lockedRecords(tx, [asked.left_id, asked.right_id], civic.url, (one) => maySee(one, caller));
          for (const record of records) checkMayChange(record, caller);
          await ledger.judge(tx, { ...asked, left_id: records[0]!.id, right_id: records[1]!.id, score: null }, editorOf(caller));
          const row = await standingBetween(tx, records[0]!.key, records[1]!.key);
          return told(row!, new Map(records.map((record) => [record.key, record])));
        });
        return h.response(made).code(201);
      },
    },
    {
      method: 'DELETE',
      path: '/api/judgements/{id}',
      options: {
        description: 'Undo a judgement: actors that it merged are separated, and no claim is lost',
        notes: 'The judgement stays in the history with `taken_back_at`.',
        auth: writer,
        validate: { query: Joi.object({}), params: Joi.object({ id: Joi.string() }) },
        plugins: { civic: { problems: ['unknown_judgement', 'unknown_actor', 'permission_required'] } },
        response: { status: { 204: Joi.any() } },
      },
      async handler(request, h) {
        const caller = callerOf(request)!;
        await civic.db.write(async (tx) => {
          const row = await judgementById(tx, String(request.params.id));
          const records = row ? await recordsByKey(tx, [row.left_key, row.right_key]) : [];
          if (!row || !records.every((one) => maySee(one, caller))) throw problem('unknown_judgement', { detail: `No judgement has the id ${String(request.params.id).slice(0, 100)}.` });
          for (const record of records) checkMayChange(record, caller);
          await ledger.unjudge(tx, row.id, editorOf(caller));
        });
        return h.response().code(204);
      },
    },
  ];
}

function told(row: JudgementRow, records: Map<number, RecordRow>) {
  return {
    id: row.id,
    left_id: records.get(row.left_key)!.id,
    right_id: records.get(row.right_key)!.id,
    verdict: row.verdict,
    reason: row.reason,
    score: row.score,
    by: row.by_kind,
    at: row.at,
    taken_back_at: row.deleted_at,
  };
}
