import type { Reader, Tx } from 'civic';

export interface Note {
  id: string;
  text: string;
  created_at: string;
}

export async function addNote(tx: Tx, note: Note): Promise<void> {
  await tx('notes_notes').insert(note);
}

export async function noteById(read: Reader, id: string): Promise<Note | null> {
  return (await read('notes_notes').where({ id: id.toLowerCase() }).first('id', 'text', 'created_at')) ?? null;
}

export async function notesPage(tx: Tx, words: string[], after: number | undefined, limit: number): Promise<{ rows: (Note & { key: number })[]; total: number }> {
  const matching = tx('notes_notes').where((query) => { for (const word of words) void query.orWhere('text', 'like', `%${word}%`); });
  const page = matching.clone().select('key', 'id', 'text', 'created_at').orderBy('key').limit(limit + 1);
  if (after !== undefined) void page.where('key', '>', after);
  const [counted] = await matching.clone().count({ total: '*' });
  return { rows: await page, total: Number(counted!.total) };
}

export async function countNotes(read: Reader): Promise<number> {
  const [counted] = await read('notes_notes').count({ total: '*' });
  return Number(counted!.total);
}

export async function deleteNote(tx: Tx, id: string): Promise<void> {
  await tx('notes_notes').where({ id }).delete();
}

export async function deleteNotesBefore(tx: Tx, time: string): Promise<void> {
  await tx('notes_notes').where('created_at', '<', time).delete();
}
