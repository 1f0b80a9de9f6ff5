import { Joi, type Reader, type Tx } from 'civic';
import type { WorkspaceContext, Workspaces } from '../context.ts';
import { createRecords, type Records } from '../records/records.ts';
import type { RecordRow } from '../records/store.ts';
import { checkedActors, checkedSources, entityReferences, sourceReferences } from '../references.ts';
import { id, listOf, nullable, recordFields, writtenText } from '../schemas.ts';

export const TARGET_TYPES = ['entity', 'place', 'source'] as const;
export type TargetType = (typeof TARGET_TYPES)[number];

export interface NoteRow extends RecordRow {
  target_type: TargetType | null;
  target_id: string | null;
  text: string;
}

/** What a note is about, and what has become of it. */
export interface NoteTarget {
  type: TargetType;
  /** The id of an actor or source, or the key of a place. */
  id: string;
  state: string;
  name: string | null;
  merged_into: string | null;
}

export interface Note {
  id: string;
  target: NoteTarget | null;
  text: string;
  created_at: string;
  updated_at: string;
  created_by: string;
}

const LONGEST_NOTE = 10_000;
const text = writtenText(LONGEST_NOTE).min(1);
const target = Joi.object({
  type: Joi.string().valid(...TARGET_TYPES).required(),
  id: Joi.string().max(200).required().description('The id of an actor or a source, or the key of a place'),
}).allow(null).description('Null for a note about nothing in particular');

const shown = Joi.object<Note, true>({
  ...recordFields,
  target: Joi.object({
    type: Joi.string().valid(...TARGET_TYPES).required(), id, state: Joi.string().valid('current', 'merged', 'deleted', 'unavailable').required(),
    name: nullable, merged_into: nullable,
  }).allow(null).required(),
  text: Joi.string().required(),
}).meta({ name: 'Note' });

export type Notes = Records<NoteRow, Note>;

export function createNotes(workspaces: Workspaces): Notes {
  return createRecords<NoteRow, Note>(workspaces, {
    name: 'notes',
    noun: 'note',
    param: 'note_id',
    table: 'workspaces_notes',
    unknown: 'unknown_workspace_note',
    problems: ['unknown_actor', 'unknown_source', 'unknown_place'],
    schemas: {
      created: Joi.object({ target, text: text.required() }).meta({ name: 'NewNote' }),
      changed: Joi.object({ target, text }).min(1).meta({ name: 'NoteChange' }),
      shown,
      list: listOf(shown, 'NoteList'),
      filters: { target_type: Joi.string().valid(...TARGET_TYPES), target_id: Joi.string().max(200).description('The id of an actor or source, or the key of a place') },
    },
    columns: async (tx, context, given) => ({
      ...(given.target !== undefined && await targetColumns(workspaces, tx, context, given.target as { type: TargetType; id: string } | null)),
      ...(given.text !== undefined && { text: given.text as string }),
    }),
    show: (reader, context, rows) => showNotes(workspaces, reader, context, rows),
  });
}

async function targetColumns(workspaces: Workspaces, tx: Tx, context: WorkspaceContext, given: { type: TargetType; id: string } | null): Promise<Pick<NoteRow, 'target_type' | 'target_id'>> {
  if (given === null) return { target_type: null, target_id: null };
  const checks: Record<TargetType, () => Promise<string[]>> = {
    entity: () => checkedActors(workspaces, tx, context, [given.id]),
    source: () => checkedSources(workspaces, tx, context, [given.id]),
    place: async () => [await workspaces.placeKey(tx, given.id)],
  };
  const [target_id] = await checks[given.type]();
  return { target_type: given.type, target_id: target_id! };
}

/** Returns a function that states what targets are called now and what has become of them, read in a query for each type. */
export async function noteTargets(workspaces: Workspaces, reader: Reader, context: WorkspaceContext, targets: Pick<NoteTarget, 'type' | 'id'>[]): Promise<(type: TargetType, id: string) => NoteTarget> {
  const idsOf = (wanted: TargetType) => targets.flatMap(({ type, id }) => (type === wanted ? [id] : []));
  const entity = await entityReferences(workspaces, reader, context, idsOf('entity'));
  const source = await sourceReferences(workspaces, reader, context, idsOf('source'));
  const places = await workspaces.directory.places(reader, idsOf('place'));
  return (type, id) => {
    if (type === 'entity') {
      const { state, name, merged_into } = entity(id);
      return { type, id, state, name, merged_into };
    }
    const name = type === 'place' ? places.get(id)?.display_name ?? null : source(id).title ?? source(id).url;
    return { type, id, state: name === null ? 'unavailable' : 'current', name, merged_into: null };
  };
}

async function showNotes(workspaces: Workspaces, reader: Reader, context: WorkspaceContext, rows: NoteRow[]): Promise<Note[]> {
  const targetOf = await noteTargets(workspaces, reader, context, rows.flatMap(({ target_type: type, target_id }) => (type === null ? [] : [{ type, id: target_id! }])));
  return rows.map(({ id: noteId, target_type, target_id, text: written, created_at, updated_at, created_by }) => ({
    id: noteId, target: target_type === null ? null : targetOf(target_type, target_id!), text: written, created_at, updated_at, created_by,
  }));
}
