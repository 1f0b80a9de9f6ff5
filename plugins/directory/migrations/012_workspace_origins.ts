import type { Schema } from 'civic';

type Tx = Schema['tx'];

/** Origins of private records carry their workspace; those of public ones are as the file has them. */
export async function up(schema: Schema): Promise<void> {
  await separateOrigins(schema.tx);
}

/** The workspace, or the word `public` where another workspace's record had the origin before. */
const MARKED = /^(?:public|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) /;

export async function separateOrigins(tx: Tx): Promise<void> {
  const rows: { origin: string; visibility: string; workspace_id: string | null }[] = await tx('directory_origins')
    .join('directory_records', 'directory_records.key', 'directory_origins.record_key')
    .where((either) => { either.whereNot('visibility', 'public').orWhereNotNull('workspace_id').orWhere('origin', 'like', 'public %'); })
    .orderByRaw("case when visibility = 'public' then 1 else 0 end").select('origin', 'visibility', 'workspace_id');
  for (const { origin, visibility, workspace_id: workspace } of rows) {
    const plain = origin.replace(MARKED, '');
    const wanted = visibility === 'public' || workspace === null ? plain : `${workspace} ${plain}`;
    if (wanted === origin) continue;
    const isTaken = await tx('directory_origins').where({ origin: wanted }).first('origin') !== undefined;
    if (isTaken) await tx('directory_origins').where({ origin }).delete();
    else await tx('directory_origins').where({ origin }).update({ origin: wanted });
  }
}
