import { checkDriver } from '../boot.ts';
import { documented, helpFor, optionsFor } from '../config/generate.ts';
import { place } from '../config/load.ts';
import { configOrigins, describeErrors, maskedConfig, showConfig } from '../config/report.ts';
import type { ConfigError } from '../config/types.ts';
import { DriverFailure } from '../database/sqlite/choose.ts';
import { pluginsOff } from '../defaults.ts';
import { prepare, type Prepared } from '../prepare.ts';
import { program } from '../program.ts';
import { Failure, type Command } from './command.ts';
import { editedFile, namesOf, offWarnings } from './off.ts';
import { compositionOf, hasColor, rejectErrors, settingsOf } from './settings.ts';

export const configShow: Command = {
  name: 'config show',
  summary: 'Print the effective configuration, secrets masked',
  options: [{ name: 'origin', summary: 'Also print where each value comes from' }],
  needs: 'nothing',
  async run({ terminal, options }) {
    const { stated: { config, origins, schema }, errors } = await prepare(settingsOf(options));
    const origin = Boolean(options.origin);
    terminal.print(
      origin ? configOrigins(config, origins, schema) : maskedConfig(config, schema),
      () => showConfig(config, origins, schema, { origin, color: hasColor(terminal) }).trimEnd(),
    );
    if (errors.length > 0) throw new Failure(describeErrors(errors, { color: hasColor(terminal) }));
  },
};

export const configCheck: Command = {
  name: 'config check',
  summary: 'Check the config file and the environment, and list the plugins that are on and off',
  needs: 'nothing',
  async run({ terminal, options }) {
    const prepared = await prepare(settingsOf(options));
    const { document, plugins } = prepared;
    const found = [...prepared.errors, ...await driverErrors(prepared)];
    const errors = found.length > 0 ? found : await compositionErrors(prepared);
    if (options.json) {
      terminal.print({ ok: errors.length === 0, errors, on: plugins.map(({ name }) => name), off: pluginsOff(prepared) }, () => '');
      if (errors.length > 0) throw new Failure(errors.length === 1 ? 'The configuration has an error.' : `The configuration has ${errors.length} errors.`);
      return;
    }
    rejectErrors(errors, terminal);
    const off = pluginsOff(prepared);
    terminal.out(`${document.file ?? 'The default configuration'} is valid.`);
    terminal.out(`Plugins that are on: ${namesOf(plugins)}.`);
    if (off.length === 0) return;
    terminal.out(`Plugins that are off: ${namesOf(off)}. To run one, name it under "plugins:" in ${editedFile(document)}, without "enabled: false".`);
    for (const warning of offWarnings(off)) terminal.out(`${terminal.style('yellow', 'Warning:')} ${warning}`);
  },
};

/** Reports a SQLite driver that this machine does not have, at the place that names it. */
async function driverErrors({ config, document, origins }: Prepared): Promise<ConfigError[]> {
  try {
    await checkDriver(config);
    return [];
  } catch (error) {
    if (!(error instanceof DriverFailure)) throw error;
    const origin = origins.get('database.driver');
    const at = origin?.kind === 'environment' ? { where: { variable: origin.where } } : place(document, ['database', 'driver'], 'value');
    return [{ ...at, path: 'database.driver', message: error.detail, hint: error.fix, read: 'docs/configuration.md#database' }];
  }
}

/** Reports plugins that cannot run together, and contracts that cannot be generated, which otherwise happens at the first request for them. */
async function compositionErrors(prepared: Prepared): Promise<ConfigError[]> {
  try {
    const composition = await compositionOf(prepared);
    composition.openApi();
    composition.asyncApi();
    return [];
  } catch (error) {
    return [{ where: { file: prepared.document.file ?? undefined }, path: 'plugins', message: (error as Error).message }];
  }
}

export const configHelp: Command = {
  name: 'config help',
  summary: 'Explain an option, a section, or all options',
  arguments: '[path]',
  get examples() {
    const { own } = program();
    return own ? [`bin/civic config help ${own.example.option}`] : ['bin/civic config help http.port', 'bin/civic config help database'];
  },
  needs: 'nothing',
  async run({ terminal, positionals, options }) {
    const { plugins, stated } = await prepare(settingsOf(options));
    const known = [documented(plugins), program().own && stated.schema] as const;
    terminal.print(optionsFor(positionals[0], known[0], known[1]), () => helpFor(positionals[0], known[0], known[1]));
  },
};
