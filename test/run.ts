import { join } from 'node:path';
import { projectRoot } from '../core/root.ts';
import { parseArguments } from './support/arguments.ts';
import { runTests } from './support/runner.ts';

const USAGE = `npm test [-- [--quick [--processes]] [filter …]]

filter       runs only the files whose path contains one of the filters
--quick      only SQLite, without browsers, without the crash tests and without the files that start processes
--processes  with --quick: also the files that start processes
--help       prints this text`;

const { values, positionals } = parseArguments(USAGE, { options: { quick: { type: 'boolean' }, processes: { type: 'boolean' }, help: { type: 'boolean' } }, allowPositionals: true });

if (values.help) {
  console.log(USAGE);
} else {
  process.exitCode = await runTests({
    folder: join(projectRoot, 'dist'),
    filters: positionals,
    quick: values.quick,
    processes: values.processes,
    timesFile: join(projectRoot, 'node_modules', '.cache', 'civic-tests.json'),
  });
}
