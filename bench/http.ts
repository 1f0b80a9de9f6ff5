import { join } from 'node:path';
import { compare, printRows, type Target } from './harness.ts';

const LIMITS = { warn: 1.3, info: 1.8 };

/** This core against plain hapi and bare Node: one route, the same answer, side by side. */
export async function benchHttp(options: { rounds: number; seconds: number }): Promise<boolean> {
  let isInside = true;
  for (const size of ['small', 'list']) {
    const rows = await compare([
      target('hapi, one route', 'hapi', [size, 'plain'], '/bench'),
      target('bare node:http', 'node', [size], '/bench'),
      target('civic, access log at warn', 'civic', [size, 'warn'], '/bench'),
      target('civic, access log on', 'civic', [size, 'info'], '/bench'),
    ], options);
    printRows(`One GET route, ${size} answer, CPU a request against plain hapi`, rows);
    isInside &&= rows[2]!.ratio <= LIMITS.warn && rows[3]!.ratio <= LIMITS.info;
    printRows(`The same with a query checked by Joi on both sides, ${size} answer`, await compare([
      target('hapi, checked query', 'hapi', [size, 'checked'], '/api/bench'),
      target('civic, access log at warn', 'civic', [size, 'warn'], '/api/bench'),
    ], options));
  }
  process.stdout.write(`\nlimits: ${LIMITS.warn} with the access log at warn, ${LIMITS.info} with it on: ${isInside ? 'kept' : 'MISSED'}\n`);
  return isInside;
}

function target(name: string, server: string, args: string[], path: string): Target {
  return { name, module: join(import.meta.dirname, 'servers', `${server}.js`), args, path };
}
