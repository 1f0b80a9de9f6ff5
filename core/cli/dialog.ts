import { isatty } from 'node:tty';
import { Failure, type CommandCall, type Terminal } from './command.ts';
import { keyAnswers } from './dialog-keys.ts';
import { lineAnswers } from './dialog-lines.ts';
import type { Answers, Dialog, DialogStreams, Question, TextQuestion } from './question.ts';

const COLUMNS = 80;
const CLEAR = '\u001b[2J\u001b[3J\u001b[H';

/** Creates a dialog. `isYes` asks nothing: questions have the answer yes or their fallback. `isClosed` accepts no answers. */
export function createDialog(streams: DialogStreams, { isYes = false, isClosed = false } = {}): Dialog & { close(): void } {
  const { isTerminal, write, style } = streams;
  // The input is opened by the first question: opening standard input can keep a process from ending.
  const hasKeys = isTerminal && streams.hasKeys;
  let answers: Answers | null = null;
  const opened = (): Answers => (answers ??= hasKeys ? keyAnswers(streams) : lineAnswers(streams));
  const isSilent = isYes || isClosed;
  const unanswered = ({ text, instead }: Question): Failure => new Failure(`${text.replace(/[?:]$/, '')}: no answer was given. Give ${instead}.`);

  async function answered<Value>(question: Question, ask: () => Promise<Value | null>): Promise<Value> {
    if (isSilent) throw unanswered(question);
    const answer = await ask();
    if (answer === null) throw unanswered(question);
    return answer;
  }

  async function text(question: TextQuestion, isSecret = false): Promise<string> {
    const { fallback, fault } = question;
    if (isYes && fallback !== undefined) return fallback;
    for (;;) {
      const prompt = `${style('bold', question.text)}${fallback ? ` [${fallback}]` : ''} `;
      const given = (await answered(question, () => opened().line(prompt, isSecret))).trim();
      if (given === '' && fallback !== undefined) return fallback;
      const wrong = given === '' ? 'An answer is required.' : fault?.(given) ?? null;
      if (wrong === null) return given;
      write(`${style('red', wrong)}\n`);
    }
  }

  return {
    hasKeys,
    columns: streams.columns || COLUMNS,
    clear() { write(hasKeys ? CLEAR : '\n'); },
    text: (question) => text(question),
    secret: (question) => text(question, true),
    async confirm(question) {
      if (isYes) return true;
      return this.choice({ ...question, choices: [{ value: true, label: 'yes', key: 'y' }, { value: false, label: 'no', key: 'n' }] });
    },
    async choice({ choices, fallback, ...question }) {
      const preset = fallback === undefined ? -1 : choices.findIndex(({ value }) => value === fallback);
      if (isYes && preset >= 0) return choices[preset]!.value;
      const at = await answered(question, () => opened().pick(question.text, choices, preset));
      return choices[at]!.value;
    },
    close() { answers?.close(); },
  };
}

/** Runs `work` with a dialog on the streams of this process. With `--json` the output is for machines, so nothing is asked. */
export async function withDialog<T>(options: CommandCall['options'], terminal: Terminal, work: (dialog: Dialog) => Promise<T>): Promise<T> {
  const { stderr, stdout } = process;
  const streams: DialogStreams = { get input() { return process.stdin; }, hasKeys: isatty(0), write: (text) => { stderr.write(text); }, isTerminal: Boolean(stderr.isTTY), columns: stdout.columns, style: terminal.style, signal: terminal.signal };
  const dialog = createDialog(streams, { isYes: options.yes === true, isClosed: terminal.json });
  try {
    return await work(dialog);
  } finally {
    dialog.close();
  }
}
