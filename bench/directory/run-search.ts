import { parseArgs } from 'node:util';
import { benchSearch } from './search.ts';

const { values } = parseArgs({ options: { actors: { type: 'string', default: '1000000' }, queries: { type: 'string', default: '2500' }, folder: { type: 'string' }, postgres: { type: 'string' }, only: { type: 'string' } } });
const isInside = await benchSearch({ actors: Number(values.actors), queries: Number(values.queries), folder: values.folder ?? null, postgres: values.postgres ?? null, ...(values.only && { only: values.only }) });
if (!isInside) process.exitCode = 1;
