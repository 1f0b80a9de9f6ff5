import { checkDriver, isPostgres, missingFile } from '../boot.ts';
import type { Composition } from '../compose.ts';
import { describeEach } from '../config/report.ts';
import type { ConfigError } from '../config/types.ts';
import { DatabaseFileFailure } from '../database/file.ts';
import { DriverFailure } from '../database/sqlite/choose.ts';
import { newDefaults, pluginsOff } from '../defaults.ts';
import type { CheckResult } from '../plugin.ts';
import { prepare, type Prepared } from '../prepare.ts';
import { call, program } from '../program.ts';
import { databaseChecks, folderChecks, machineChecks, settingsChecks, type NamedCheck } from './checks.ts';
import { Failure, type Command, type Terminal } from './command.ts';
import { newDefaultText, offResult } from './off.ts';
import { compositionOf, settingsOf } from './settings.ts';

type Finding = Omit<CheckResult, 'status'> & { name: string; status: CheckResult['status'] | 'skipped' };

const PLUGIN_CHECKS = 'checks of plugins';

export const doctor: Command = {
  name: 'doctor',
  summary: 'Check this installation and print how to fix each problem',
  needs: 'nothing',
  async run({ terminal, options }) {
    const prepared = await prepare(settingsOf(options));
    const isBroken = prepared.errors.length > 0;
    const folders = folderChecks(prepared.config);
    // A program without a server listens nowhere, and always runs the same plugins.
    const serves = program().commands.includes('serve');
    const settings = serves ? settingsChecks(prepared.config, prepared.plugins) : [];
    const findings = [
      ...await run(machineChecks()),
      ...(prepared.errors.some(concernsDataFolder) ? skip(namesOf(folders), BROKEN) : await run(folders)),
      ...configFindings(prepared),
      ...(isBroken
        ? skip([...(serves ? ['plugins'] : []), ...namesOf(settings), 'database', 'migrations', PLUGIN_CHECKS], BROKEN)
        : [...(serves ? [{ name: 'plugins', ...offResult(pluginsOff(prepared), prepared.document) }] : []), ...await run(settings), ...await findingsInside(prepared)]),
    ];
    terminal.print({ ok: !findings.some(hasFailed), findings }, () => findings.map((finding) => words(finding, terminal)).join('\n'));
    const failed = findings.filter(hasFailed);
    const skipped = findings.filter(({ status }) => status === 'skipped').length;
    const rest = skipped === 0 ? '' : skipped === 1 ? '; one check was skipped' : `; ${skipped} checks were skipped`;
    if (failed.length > 0) throw new Failure(`\n${failed.length === 1 ? 'One thing needs' : `${failed.length} things need`} fixing${rest}.`);
  },
};

function hasFailed(finding: Finding): boolean {
  return finding.status === 'failed';
}

const BROKEN = 'the configuration has errors';

function skip(names: string[], reason: string): Finding[] {
  return names.map((name) => ({ name, status: 'skipped', detail: `not checked: ${reason}` }));
}

function namesOf(checks: NamedCheck[]): string[] {
  return checks.map(({ name }) => name);
}

/** An unreadable file has an error without a path, and its data_dir is unknown. */
function concernsDataFolder({ path }: ConfigError): boolean {
  return path === '' || path === 'data_dir' || path.startsWith('backup');
}

function configFindings({ document, errors, plugins }: Prepared): Finding[] {
  if (errors.length > 0) return describeEach(errors).map((detail) => ({ name: 'config', status: 'failed', detail, fix: `correct it; ${call('config help')} <path> explains an option` }));
  const names = plugins.map((plugin) => plugin.name).join(', ') || 'none';
  return [{ name: 'config', status: 'ok', detail: `${document.file ?? 'the default configuration'}; plugins: ${names}` }];
}

/** Runs the checks that need the composed plugins and an open database, beside a running server or without one. */
async function findingsInside(prepared: Prepared): Promise<Finding[]> {
  let composition: Composition;
  try {
    // Doctor reports warnings as findings, so the log prints errors only.
    composition = await compositionOf(prepared, 'error');
  } catch (error) {
    return [{ name: 'registration', status: 'failed', detail: (error as Error).message, fix: 'fix the plugin named above, or switch it off with "enabled: false"' }, ...skip(['database', 'migrations', PLUGIN_CHECKS], 'a plugin cannot be registered')];
  }
  try {
    await checkDriver(prepared.config);
    if (missingFile(prepared.config)) return [{ name: 'database', status: 'ok', detail: 'the first start creates it' }, ...skip(['migrations', PLUGIN_CHECKS], 'there is no database yet')];
    await composition.open({ writes: false, schema: 'any' });
    const ofDatabase = await run(databaseChecks(composition));
    const isUsable = ofDatabase.every(({ status }) => status === 'ok');
    if (!isUsable) return [...ofDatabase, ...skip([PLUGIN_CHECKS], 'the database must be fixed or migrated first')];
    return [...ofDatabase, ...await newDefaultFindings(composition, prepared), ...await run(composition.checks.map((check) => ({ ...check, name: `${check.plugin}: ${check.name}` })))];
  } catch (error) {
    return [openFinding(error as Error, isPostgres(prepared.config)), ...skip(['migrations', PLUGIN_CHECKS], 'the database cannot be opened')];
  } finally {
    await composition.stop();
  }
}

function openFinding(error: Error, onPostgres: boolean): Finding {
  const { detail, fix } = error instanceof DatabaseFileFailure || error instanceof DriverFailure ? error : { detail: error.message, fix: undefined };
  return { name: 'database', status: 'failed', detail, fix: fix ?? `see ${onPostgres ? 'database.url' : 'data_dir'} in docs/configuration.md` };
}

/** Each default plugin that came with an upgrade and is not in the config file yet. */
async function newDefaultFindings({ db }: Composition, { document }: Prepared): Promise<Finding[]> {
  if (program().own) return [];
  const names = await newDefaults(db.read, document);
  return names.map((name) => ({ name: 'new plugin', status: 'warning', detail: newDefaultText(name, document) }));
}

async function run(checks: NamedCheck[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of checks) {
    const answered = async (): Promise<CheckResult> => check.run();
    const result = await answered().catch((error: Error): CheckResult => ({ status: 'failed', detail: error.message }));
    findings.push({ name: check.name, ...result });
  }
  return findings;
}

function words({ name, status, detail, fix }: Finding, terminal: Terminal): string {
  const mark = { ok: terminal.style('green', '✓'), warning: terminal.style('yellow', '!'), failed: terminal.style('red', '✗'), skipped: terminal.style('dim', '-') }[status];
  const text = `${mark} ${name}: ${detail}`;
  return fix && status !== 'ok' ? `${text}\n    ${terminal.style('bold', 'Do:')} ${fix}` : text;
}
