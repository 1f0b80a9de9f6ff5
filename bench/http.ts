import { join } from 'node:path';
import { compare, type Row, type Target } from './harness.ts';

const LIMITS = { warn: 1.3, info: 1.8 };

/** This core against plain hapi and bare Node: one route, the same answer, side by side. */
export async function benchHttp(options: { rounds: number; seconds: number }): Promise<boolean> {
  let isInside = true;
  for (const size of ['small', 'list']) {
    const rows = await compare([
      target('hapi, one route', 'hapi', [size]),
      target('bare node:http', 'node', [size]),
      target('civic, access log at warn', 'civic', [size, 'warn']),
      target('civic, access log on', 'civic', [size, 'info']),
    ], options);
    print(`One GET route, ${size} answer, CPU a request against plain hapi`, rows);
    isInside &&= rows[2]!.ratio <= LIMITS.warn && rows[3]!.ratio <= LIMITS.info;
  }
  process.stdout.write(`limits: ${LIMITS.warn} with the access log at warn, ${LIMITS.info} with it on: ${isInside ? 'kept' : 'MISSED'}\n`);
  return isInside;
}

function target(name: string, server: string, args: string[]): Target {
  return { name, module: join(import.meta.dirname, 'servers', `${server}.js`), args, path: '/api/bench' };
}

function print(title: string, rows: Row[]): void {
  process.stdout.write(`\n${title}\n`);
  for (const { name, cpu, perSecond, ratio } of rows) {
    process.stdout.write(`  ${name.padEnd(28)} ${cpu.toFixed(1).padStart(7)} µs  ${ratio.toFixed(2).padStart(5)}x  ${Math.round(perSecond).toLocaleString('en-US').padStart(8)} requests/s\n`);
  }
}
