import { helpFor } from '../config/generate.ts';
import { configOrigins, describeErrors, maskedConfig, showConfig } from '../config/report.ts';
import { prepare } from '../prepare.ts';
import { Failure, type Command } from './command.ts';
import { hasColor, preparedOrFail, settingsOf } from './settings.ts';

export const configShow: Command = {
  name: 'config show',
  summary: 'The effective configuration, secrets masked',
  options: [{ name: 'origin', summary: 'Say where each value came from' }],
  needs: 'nothing',
  async run({ terminal, options }) {
    const { config, origins, schema, errors } = await prepare(settingsOf(options));
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
  summary: 'Look for mistakes in the config file and the environment',
  needs: 'nothing',
  async run({ terminal, options }) {
    if (options.json) {
      const { errors } = await prepare(settingsOf(options));
      terminal.print({ ok: errors.length === 0, errors }, () => '');
      if (errors.length > 0) throw new Failure(`${errors.length} mistakes`);
      return;
    }
    const { document, plugins } = await preparedOrFail(settingsOf(options), terminal);
    const names = plugins.map((plugin) => plugin.name).join(', ') || 'none';
    terminal.out(`${document.file ?? 'The default configuration'} is fine. Plugins that are on: ${names}.`);
  },
};

export const configHelp: Command = {
  name: 'config help',
  summary: 'What an option means, or all of them',
  arguments: '[path]',
  examples: ['bin/civic config help http.port', 'bin/civic config help database'],
  needs: 'nothing',
  async run({ terminal, positionals, options }) {
    const { plugins } = await prepare(settingsOf(options));
    terminal.out(helpFor(positionals[0], plugins));
  },
};
