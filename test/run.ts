import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../core/root.ts';
import { runTests } from './support/runner.ts';

const { values, positionals } = parseArgs({ options: { quick: { type: 'boolean' } }, allowPositionals: true });

process.exitCode = await runTests({
  folder: join(projectRoot, 'dist'),
  filters: positionals,
  quick: values.quick,
  timesFile: join(projectRoot, 'node_modules', '.cache', 'civic-tests.json'),
});
