import { once } from 'node:events';
import { dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { checkDriver, checkPort, isPostgres, missingFile } from '../boot.ts';
import { compose, type Composition } from '../compose.ts';
import { checkDataFolder } from '../database/folder.ts';
import { hasOwnFile, newDefaults, pluginsOff, rememberDefaults } from '../defaults.ts';
import type { Role } from '../jobs.ts';
import { loadLazyModules } from '../lazy.ts';
import { createLogger, type Logger } from '../log.ts';
import { isBundle } from '../root.ts';
import { backUpBeforeUpgrade } from './backup.ts';
import { Failure, Misuse, type Command, type CommandCall, type Terminal } from './command.ts';
import { namesOf, newDefaultText, offWarnings } from './off.ts';
import { openControlSocket, type ControlSocket } from './remote.ts';
import type { Prepared } from '../prepare.ts';
import { themeFaultsOf } from './theme.ts';
import { preparedOrFail, restoreCommand, settingsOf, withDemo } from './settings.ts';

export const serve: Command = {
  name: 'serve',
  summary: 'Start the server',
  options: [
    { name: 'host', value: 'address', summary: 'The address to listen on (default: 127.0.0.1)' },
    { name: 'port', value: 'number', summary: 'The port to listen on (default: 8080)' },
    { name: 'role', value: 'role', summary: 'web, worker or all (default: all); web and worker need Postgres' },
    { name: 'demo', summary: 'Load an invented region into the directory; bin/civic demo remove deletes it' },
    { name: 'no-backup', summary: 'Do not back up before an upgrade of the database' },
  ],
  examples: ['bin/civic serve', 'bin/civic serve --demo', 'bin/civic serve --port 9000 --data /srv/civic'],
  needs: 'nothing',
  async run({ terminal, options }) {
    youngHeapGrowsBy(1);
    const { prepared, role, log, composition } = await withoutOptimizer(() => composeServer(options, terminal));
    const demo = prepared.config.demo ? demoCommand(composition) : null;
    const backs = prepared.config.backup.before_migrations && !options['no-backup'];
    let control: ControlSocket | null = null;
    let loading: NodeJS.Timeout | undefined;
    const newFile = missingFile(prepared.config);
    for (const folder of newFile ? [prepared.config.data_dir, dirname(newFile)] : []) checkDataFolder(folder);
    if (newFile) terminal.err(`Creating the database ${newFile}: this takes a few seconds, once`);
    try {
      await composition.open({
        writes: true,
        schema: 'migrate',
        restoreCommand: restoreCommand(options),
        onProgress: terminal.progress,
        beforeMigrating: backs ? (db) => backUpBeforeUpgrade(db, prepared, terminal) : undefined,
      });
      await composition.start();
      if (demo) await loadDemo(demo, terminal);
      if (!isPostgres(prepared.config)) control = await openControlSocket(prepared.config.data_dir, () => composition.commands);
      // Before it listens: a database that goes away later must not end the server.
      const lines = [...await pluginLines(composition, prepared), ...(await themeFaultsOf(prepared.config, prepared.plugins)).map((fault): [string, string] => ['Warning', fault])];
      await rememberDefaults(composition.db, prepared.document);
      if (role !== 'worker') await composition.listen();
      youngHeapGrowsBy(2);
      terminal.err(welcome(composition, role, { prepared, pluginLines: lines }, terminal));
      loading = setTimeout(() => { void loadLazyModules(log); }, FIRST_REQUESTS_MS).unref();
      if (!terminal.signal.aborted) await once(terminal.signal, 'abort');
      terminal.err('Stopping…');
    } finally {
      clearTimeout(loading);
      await control?.close();
      const faults = await composition.stop();
      // A part that did not stop may hold sockets or timers that would keep the process.
      if (faults.length > 0) setTimeout(() => process.exit(1), LAST_MS).unref();
    }
  },
};

const LAST_MS = 1000;
/** How long the first requests are served before modules are loaded that they hardly need: loading takes a second, in which they would wait. */
const FIRST_REQUESTS_MS = 500;

async function composeServer(options: CommandCall['options'], terminal: Terminal): Promise<{ prepared: Prepared; role: Role; log: Logger; composition: Composition }> {
  const settings = settingsOf(options);
  const prepared = await preparedOrFail(options.demo ? withDemo(settings) : settings, terminal);
  const role = roleOf(options.role as string | undefined, isPostgres(prepared.config));
  if (role !== 'worker') await checkPort(prepared.config);
  await checkDriver(prepared.config);
  const log = await createLogger(prepared.config.log);
  if (!isBundle) log.info('This start loads single modules and takes longer, because the build could not write dist/bundle: delete dist/ to build again');
  return { prepared, role, log, composition: await compose({ ...prepared, log, role }) };
}

/** Loading and composing run most code once: optimizing that code costs a tenth of a start and 9 MB, and pays for nothing. */
async function withoutOptimizer<T>(work: () => Promise<T>): Promise<T> {
  setFlagsFromString('--no-opt');
  try {
    return await work();
  } finally {
    setFlagsFromString('--opt');
  }
}

/** A start leaves much behind at once. The young heap would grow for it and stay large, some 25 MB of a small box; while serving it grows as usual. */
function youngHeapGrowsBy(factor: 1 | 2): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

function demoCommand({ commands, plugins }: Composition): Command {
  const load = commands.find(({ name }) => name === 'demo load');
  if (!load) throw new Failure(`demo is true, but none of the plugins that run has demo data (${namesOf(plugins)}). Without a config file the default plugins run, which have it.`);
  return load;
}

/** On standard error, as the welcome. */
async function loadDemo(load: Command, terminal: Terminal): Promise<void> {
  const quiet: Terminal = { ...terminal, out: terminal.err, print: (_value, words) => { terminal.err(words()); } };
  await load.run({ terminal: quiet, positionals: [], options: {}, cwd: process.cwd() });
}

function roleOf(given: string | undefined, onPostgres: boolean): Role {
  if (given === undefined || given === 'all') return 'all';
  if (given !== 'web' && given !== 'worker') throw new Misuse(`--role is web, worker or all, not "${given}"`);
  if (!onPostgres) throw new Failure(`--role ${given} needs Postgres: one process writes a SQLite file, so only --role all exists there. Set database.url to postgres://…`);
  return given;
}

/** Lists the plugins that are on and off, with a warning for each that is recommended, and those that an upgrade brought. */
async function pluginLines({ plugins, db }: Composition, prepared: Prepared): Promise<[label: string, text: string][]> {
  const off = pluginsOff(prepared);
  const added = await newDefaults(db.read, prepared.document);
  return [
    ['Plugins', namesOf(plugins)],
    ...(off.length > 0 ? [['Off', `${namesOf(off)} (bin/civic plugin list describes them)`] as [string, string]] : []),
    ...offWarnings(off).map((text): [string, string] => ['Warning', text]),
    ...added.map((name): [string, string] => ['New', newDefaultText(name, prepared.document)]),
  ];
}

/** The text that `serve` prints once it runs; on standard error, so that the log on standard output stays machine-readable. */
function welcome({ instance, config, server, db }: Composition, role: Role, { prepared, pluginLines }: { prepared: Prepared; pluginLines: [string, string][] }, terminal: Terminal): string {
  const { document, origins } = prepared;
  const url = (path: string): string => terminal.style('cyan', instance.public_url + path);
  const lines: [label: string, text: string][] = [
    ...pluginLines,
    ['Database', isPostgres(config) ? 'Postgres' : `SQLite in ${config.data_dir}`],
    ...(db.driver?.fallback ? [['Warning', `SQLite runs on the driver of Node itself, since ${db.driver.fallback}`] as [string, string]] : []),
    ...(role === 'worker' ? [] : [['API', url('/docs')] as [string, string]]),
    ...(role === 'worker' || origins.get('public_url')?.kind === 'default' ? [] : [['Listens', `on ${server.info.host}:${server.info.port}; public_url is the address of the proxy in front of it`] as [string, string]]),
    ['Settings', `${hasOwnFile(document) ? 'bin/civic config show prints them' : 'bin/civic init writes config/civic.yaml'}; bin/civic doctor checks everything`],
  ];
  const head = role === 'worker' ? 'runs background jobs' : `is running at ${url('/')}`;
  return [
    '',
    `  ${terminal.style('bold', instance.name)} ${instance.version} ${head}`,
    '',
    ...lines.map(([label, text]) => `  ${label === 'Warning' ? terminal.style('yellow', 'Warning   ') : label.padEnd(10)}${text}`),
    '',
    '  Ctrl-C stops it.',
    '',
  ].join('\n');
}
