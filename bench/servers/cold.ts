import Hapi from '@hapi/hapi';
import { openDirectory } from '../directory/kit.ts';
import { reportTo } from '../harness.ts';

/**
 * The directory with nothing kept in memory, and beside it a plain hapi server on the same pool: for each path it runs
 * the statements that the directory was seen to run, and puts the rows together as text.
 */
const [, , folder, url, ...paths] = process.argv;
const { composition } = await openDirectory({ folder: folder!, url: url || null, cacheMegabytes: 0 });
await composition.start();
await composition.listen();
const { server, db } = composition;

interface Statement { sql: string; bindings: never[] }

/** The shortest of several looks: what goes on in the background is no part of it. */
async function statementsOf(path: string): Promise<Statement[]> {
  let shortest: Statement[] | null = null;
  for (let look = 0; look < 10; look++) {
    const seen: Statement[] = [];
    const see = ({ sql, bindings }: Statement) => { if (/^\s*(select|with)/i.test(sql)) seen.push({ sql: sql.replace(/\$\d+/g, '?'), bindings }); };
    db.read.on('query', see);
    const { statusCode } = await server.inject(path);
    db.read.off('query', see);
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}`);
    if (!shortest || seen.length < shortest.length) shortest = seen;
  }
  return shortest!;
}

// It waits for the counts of facets.
await server.inject('/api/issue-areas');
const plain = Hapi.server({ host: '127.0.0.1', port: 0 });
for (const path of paths) {
  const statements = await statementsOf(path);
  plain.route({
    method: 'GET',
    path,
    async handler(_request, h) {
      let text = '{"data":[';
      for (const { sql, bindings } of statements) {
        const rows: { body?: string }[] = await db.read.raw(sql, bindings);
        for (const row of rows) text += `${row.body ?? JSON.stringify(row)},`;
      }
      return h.response(`${text}null]}`).type('application/json; charset=utf-8');
    },
  });
}
await plain.start();
reportTo(server.info.port as number, { beside: plain.info.port as number });
