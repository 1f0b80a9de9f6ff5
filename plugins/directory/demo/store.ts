import type { Reader } from 'civic';

/** What every origin of the demo starts with. */
export const DEMO_ORIGIN = 'demo:';

/** How many records of the demo there are. By a range, which the key of the table answers. */
export async function countDemo(reader: Reader): Promise<number> {
  const [row] = await reader('directory_origins').where('origin', '>=', DEMO_ORIGIN).where('origin', '<', 'demo;').count({ count: '*' });
  return Number(row!.count);
}
