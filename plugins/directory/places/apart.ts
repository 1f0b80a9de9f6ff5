import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Gazetteer } from './gazetteer.ts';

/** The rows of the gazetteer, read in a thread of its own: the packages take 300 MB, which go with it. */
export async function readGazetteerApart(): Promise<Gazetteer> {
  // Switches of this process, such as --input-type, are not for a thread that is a file.
  const worker = new Worker(new URL('./worker.js', import.meta.url), { execArgv: [] });
  try {
    const [gazetteer] = await once(worker, 'message') as [Gazetteer];
    return gazetteer;
  } finally {
    await worker.terminate();
  }
}
