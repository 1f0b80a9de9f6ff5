import { openDirectory } from '../directory/kit.ts';
import { reportTo } from '../harness.ts';

const [, , folder, url, cacheMegabytes] = process.argv;
const { composition } = await openDirectory({ folder: folder!, url: url || null, cacheMegabytes: Number(cacheMegabytes) });
await composition.start();
await composition.listen();
// The first one waits for the counts of facets.
await composition.server.inject('/api/issue-areas');
reportTo(composition.server.info.port as number);
