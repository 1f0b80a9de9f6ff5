import { join } from 'node:path';
import { projectRoot } from '../core/root.ts';
import { parseArguments } from './support/arguments.ts';
import { runTests } from './support/runner.ts';

const USAGE = `npm test [-- [--sqlite | --quick] [--again] [filter …]]

filter    runs only the files whose path contains one of the filters
--sqlite  only SQLite, without browsers and without the crash tests
--quick   the same, without the files that say why they are not quick; takes about a minute
--again   runs up to three failed files once more, alone; those that pass then are listed as unstable
--help    prints this text`;

const { values, positionals } = parseArguments(USAGE, { options: { quick: { type: 'boolean' }, sqlite: { type: 'boolean' }, again: { type: 'boolean' }, help: { type: 'boolean' } }, allowPositionals: true });

if (values.help) {
  console.log(USAGE);
} else {
  process.exitCode = await runTests({
    folder: join(projectRoot, 'dist'),
    filters: positionals,
    quick: values.quick,
    sqlite: values.sqlite,
    again: values.again,
    timesFile: join(projectRoot, 'node_modules', '.cache', 'civic-tests.json'),
  });
}
