import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseDocument, stringify } from 'yaml';
import { fromText, schemaOf } from '../config/format.ts';
import { wantedOptions } from '../config/generate.ts';
import { variableName } from '../config/load.ts';
import { describeErrors, optionValues } from '../config/report.ts';
import { PRIVATE_FILE } from '../database/private.ts';
import { prepare } from '../prepare.ts';
import { program } from '../program.ts';
import { Failure, type Command, type CommandCall } from './command.ts';
import { hasColor, preparedOrFail, rejectErrors, settingsOf } from './settings.ts';

// For programs with options of their own: their config file is small, and a person at home need not know YAML.

export const configGet: Command = {
  name: 'config get',
  summary: 'Print the value of an option',
  arguments: '<option>',
  get examples() { return [`bin/civic config get ${program().own!.example.option}`]; },
  needs: 'nothing',
  async run({ terminal, positionals, options }) {
    const { stated: { config, schema } } = await preparedOrFail(settingsOf(options), terminal);
    const wanted = new Set(wantedOptions(positionals[0], schema).map(([path]) => path));
    const values = optionValues(config, schema).filter(({ path }) => wanted.has(path)).map(({ path, value, isSecret }) => [path, isSecret && value ? '[masked]' : value] as const);
    const isOne = wanted.has(positionals[0]!);
    terminal.print(isOne ? values[0]![1] : Object.fromEntries(values), () => (isOne ? plain(values[0]![1]) : values.map(([path, value]) => `${path}: ${plain(value)}`).join('\n')));
  },
};

function plain(value: unknown): string {
  return typeof value === 'string' ? value : stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();
}

export const configSet: Command = {
  name: 'config set',
  summary: 'Set an option in the config file; "default" removes it from there',
  arguments: '<option> <value>',
  get examples() {
    const { option, value } = program().own!.example;
    return [`bin/civic config set ${option} ${value}`, `bin/civic config set ${option} default`];
  },
  needs: 'nothing',
  async run({ terminal, positionals, options }) {
    const [path, text] = positionals as [string, string];
    const prepared = await preparedOrFail(settingsOf(options), terminal);
    const [[name, option]] = wantedOptions(path, prepared.stated.schema) as [[string, Parameters<typeof schemaOf>[0]]];
    if (name !== path) throw new Failure(`${path} is a section: set one of its options, such as ${name}`);
    const file = configFile(options);
    const edited = withValue(readIfThere(file), path, text === 'default' ? undefined : fromText(schemaOf(option).describe(), text));
    const { errors } = await prepare({ ...settingsOf(options), text: edited });
    if (errors.length > 0) throw new Failure(describeErrors(errors, { color: hasColor(terminal) }));
    writePrivately(file, edited);
    terminal.print({ file, option: path }, () => `${path} is ${text === 'default' ? 'its default' : option.sensitive ? 'set' : text} in ${file}.`);
  },
};

export const configPath: Command = {
  name: 'config path',
  summary: 'Print where the config file and the data are',
  needs: 'nothing',
  async run({ terminal, options }) {
    const { config, errors } = await prepare(settingsOf(options));
    const paths = { config: configFile(options), data: config.data_dir };
    terminal.print(paths, () => `Config file: ${paths.config}\nData folder: ${paths.data}`);
    rejectErrors(errors, terminal);
  },
};

/** Returns the config file that the program reads, whether it exists or not. */
export function configFile({ config }: CommandCall['options']): string {
  const { own } = program();
  return resolve((config as string | undefined) ?? (process.env[variableName('config')] || own!.file(process.env)));
}

export function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** Returns the text of a config file with another value of an option; its comments stay. */
export function withValue(text: string, path: string, value: unknown): string {
  const document = parseDocument(text);
  if (value === undefined) document.deleteIn(path.split('.'));
  else document.setIn(path.split('.'), value);
  return document.toString({ lineWidth: 0 });
}

/** Replaces a file as a whole, readable for this user only: it may have secrets. */
export function writePrivately(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: PRIVATE_FILE });
  renameSync(draft, file);
}
