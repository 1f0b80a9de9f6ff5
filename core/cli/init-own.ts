import { existsSync } from 'node:fs';
import { describeErrors } from '../config/report.ts';
import { prepare } from '../prepare.ts';
import { call, program } from '../program.ts';
import { Failure, type Command } from './command.ts';
import { configFile, withValue, writePrivately } from './config-edit.ts';
import type { Dialog } from './question.ts';
import { hasColor, settingsOf } from './settings.ts';

/** The command `init` of a program with options of its own. */
export const initOwn: Command = {
  name: 'init',
  summary: 'Write the config file; asks what it needs to know',
  options: [{ name: 'yes', summary: 'Ask nothing, and use the defaults' }],
  examples: ['bin/civic init', 'bin/civic init --yes'],
  needs: 'nothing',
  async run({ terminal, dialog, options }) {
    const file = configFile(options);
    if (existsSync(file)) throw new Failure(`${file} exists, and was not changed. Change it with ${call('config set')}, or move it away to start over.`);
    const settings = { ...settingsOf(options), file };
    const { questions = [] } = await program().own!.load();
    let text = `# Settings of ${program().name} that are not the default: ${call('config help')} explains all options, ${call('config set')} changes one.\n`;
    for (const { path, text: question } of questions) {
      const answer = await answerOf(dialog!, path, question, async (value) => faultOf(withValue(text, path, value)));
      if (answer !== '') text = withValue(text, path, answer);
    }
    writePrivately(file, text);
    terminal.print({ file }, () => `Wrote ${file}. ${call('config show')} prints the active settings, ${call('config set')} changes them.`);

    async function faultOf(edited: string): Promise<string | null> {
      const { errors } = await prepare({ ...settings, text: edited });
      return errors.length > 0 ? describeErrors(errors, { color: hasColor(terminal) }) : null;
    }
  },
};

/** Asks until the answer is valid. */
async function answerOf(dialog: Dialog, path: string, text: string, faultOf: (value: string) => Promise<string | null>): Promise<string> {
  let question = text;
  for (;;) {
    const answer = await dialog.text({ text: question, instead: `--yes, and then ${call('config set')} ${path} <value>`, fallback: '' });
    const fault = answer === '' ? null : await faultOf(answer);
    if (fault === null) return answer;
    question = `${fault}\n${text}`;
  }
}

