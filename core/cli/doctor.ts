import { isPostgres, missingFile } from '../boot.ts';
import type { Composition } from '../compose.ts';
import { describeErrors } from '../config/report.ts';
import { newDefaults, pluginsOff } from '../defaults.ts';
import type { CheckResult } from '../plugin.ts';
import { prepare, type Prepared } from '../prepare.ts';
import { databaseChecks, machineChecks, settingsChecks, type NamedCheck } from './checks.ts';
import { Failure, type Command, type Terminal } from './command.ts';
import { newDefaultText, offResult } from './off.ts';
import { compositionOf, settingsOf } from './settings.ts';

type Finding = CheckResult & { name: string };

export const doctor: Command = {
  name: 'doctor',
  summary: 'Check this installation and print how to fix each problem',
  needs: 'nothing',
  async run({ terminal, options }) {
    const prepared = await prepare(settingsOf(options));
    const findings = [
      ...await run(machineChecks(prepared.config)),
      configFinding(prepared),
      ...(prepared.errors.length === 0 ? [{ name: 'plugins', ...offResult(pluginsOff(prepared), prepared.document) }] : []),
      ...await run(settingsChecks(prepared.config)),
      ...(prepared.errors.length === 0 ? await findingsInside(prepared) : []),
    ];
    terminal.print({ ok: !findings.some(hasFailed), findings }, () => findings.map((finding) => words(finding, terminal)).join('\n'));
    const failed = findings.filter(hasFailed);
    if (failed.length > 0) throw new Failure(`\n${failed.length === 1 ? 'One thing needs' : `${failed.length} things need`} fixing.`);
  },
};

function hasFailed(finding: Finding): boolean {
  return finding.status === 'failed';
}

function configFinding({ document, errors, plugins }: Prepared): Finding {
  if (errors.length > 0) return { name: 'config', status: 'failed', detail: describeErrors(errors, { color: false }), fix: 'correct the file; bin/civic config help <path> explains an option' };
  const names = plugins.map((plugin) => plugin.name).join(', ') || 'none';
  return { name: 'config', status: 'ok', detail: `${document.file ?? 'the default configuration'}; plugins: ${names}` };
}

/** Runs the checks that need the composed plugins and an open database, beside a running server or without one. */
async function findingsInside(prepared: Prepared): Promise<Finding[]> {
  let composition: Composition;
  try {
    composition = await compositionOf(prepared);
  } catch (error) {
    return [{ name: 'registration', status: 'failed', detail: (error as Error).message, fix: 'fix the plugin named above, or switch it off with "enabled: false"' }];
  }
  if (missingFile(prepared.config)) return [{ name: 'database', status: 'ok', detail: 'the first start creates it' }];
  try {
    await composition.open({ writes: false, schema: 'any' });
    const ofDatabase = await run(databaseChecks(composition));
    const isUsable = ofDatabase.every(({ status }) => status === 'ok');
    return [...ofDatabase, ...(isUsable ? await newDefaultFindings(composition, prepared) : []), ...(isUsable ? await run(composition.checks.map((check) => ({ ...check, name: `${check.plugin}: ${check.name}` }))) : [])];
  } catch (error) {
    return [{ name: 'database', status: 'failed', detail: (error as Error).message, fix: isPostgres(prepared.config) ? 'see database.url in docs/configuration.md' : 'see data_dir in docs/configuration.md' }];
  } finally {
    await composition.stop();
  }
}

/** Each default plugin that came with an upgrade and is not in the config file yet. */
async function newDefaultFindings({ db }: Composition, { document }: Prepared): Promise<Finding[]> {
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
  const mark = { ok: terminal.style('green', '✓'), warning: terminal.style('yellow', '!'), failed: terminal.style('red', '✗') }[status];
  const text = `${mark} ${name}: ${detail}`;
  return fix && status !== 'ok' ? `${text}\n    ${terminal.style('bold', 'Do:')} ${fix}` : text;
}
