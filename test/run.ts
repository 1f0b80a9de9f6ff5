import { join } from 'node:path';
import { projectRoot } from '../core/root.ts';
import { runTests } from './support/runner.ts';

process.exitCode = await runTests({
  folder: join(projectRoot, 'dist'),
  filters: process.argv.slice(2),
  timesFile: join(projectRoot, 'node_modules', '.cache', 'civic-tests.json'),
});
