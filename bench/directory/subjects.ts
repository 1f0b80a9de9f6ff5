import { openDatabase } from '../../core/database/connect.ts';
import { createLogger } from '../../core/log.ts';
import type { BenchDatabase } from './databases.ts';

/** What is asked for in the measurements of reads. */
export interface Subjects {
  /** With most actors. */
  largest: string;
  /** With some twenty. */
  usual: string;
  actor: string;
}

export async function subjectsOf({ folder, url, dialect }: BenchDatabase): Promise<Subjects> {
  const db = await openDatabase({ url, dataDir: folder, pool: 2, log: await createLogger({ level: 'error', access: 'warn', format: 'json' }) });
  try {
    const counts = () => db.read('directory_counts').join('directory_places', 'directory_places.key', 'directory_counts.place').where({ issue_area: '', type: '' });
    const largest = await counts().orderBy('actors', 'desc').first('place_key');
    if (!largest) throw new Error(`There are no actors on ${dialect} yet: run the part import first`);
    const usual = await counts().where('actors', '<=', 20).orderBy('actors', 'desc').first('place_key');
    const actor = await db.read('directory_actors').where({ source_count: 3 }).orderBy('key').first('id');
    return { largest: largest.place_key, usual: usual.place_key, actor: actor.id };
  } finally {
    await db.close();
  }
}
