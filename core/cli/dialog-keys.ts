import { emitKeypressEvents, type Key } from 'node:readline';
import { Stopped, type Answers, type Choice, type DialogStreams } from './question.ts';

/** How many choices are shown at once. */
const ROWS = 10;

/** Reads answers as keys of a terminal. */
export function keyAnswers(streams: DialogStreams): Answers {
  const { write, style } = streams;
  const keys = keyReader(streams);

  async function line(prompt: string, isSecret: boolean): Promise<string> {
    write(prompt);
    let text = '';
    for (;;) {
      const { name, sequence = '', ctrl } = await keys.next();
      if (name === 'return' || name === 'enter') break;
      if (name === 'backspace') {
        if (text !== '' && !isSecret) write('\b \b');
        text = [...text].slice(0, -1).join('');
      } else if (ctrl && name === 'u') {
        if (!isSecret) write('\b \b'.repeat([...text].length));
        text = '';
      } else if (!ctrl && isPrintable(sequence)) {
        if (!isSecret) write(sequence);
        text += sequence;
      }
    }
    write('\n');
    return text;
  }

  async function pickKey(question: string, choices: Choice<unknown>[], fallback: number): Promise<number> {
    write(`${style('bold', question)} ${choices.map(({ key, label }) => `${style('cyan', key!)} ${label}`).join('  ')} `);
    for (;;) {
      const { name, sequence, ctrl } = await keys.next();
      const at = name === 'return' ? fallback : ctrl ? -1 : choices.findIndex(({ key }) => key === sequence?.toLowerCase());
      if (at < 0) continue;
      write(`${choices[at]!.label}\n`);
      return at;
    }
  }

  /** Shows a list in which arrows move, and in which typing keeps the choices that contain the text. */
  async function pickRow(question: string, choices: Choice<unknown>[], fallback: number): Promise<number> {
    let filter = '';
    let shown = choices.map((_, at) => at);
    let selected = Math.max(0, fallback);
    let drawn = 0;
    const draw = (): void => {
      const first = Math.max(0, Math.min(selected - Math.floor(ROWS / 2), shown.length - ROWS));
      const rows = shown.slice(first, first + ROWS).map((at, row) => (first + row === selected ? style('cyan', `> ${choices[at]!.label}`) : `  ${choices[at]!.label}`));
      const lines = [`${style('bold', question)} ${filter}`, ...(rows.length > 0 ? rows : ['  (none)'])].map((text) => text.slice(0, streams.columns + 10));
      write(`${drawn > 0 ? `\u001b[${drawn}A\u001b[J` : ''}${lines.join('\n')}\n`);
      drawn = lines.length;
    };
    draw();
    for (;;) {
      const { name, sequence = '', ctrl } = await keys.next();
      if (name === 'return' && shown.length > 0) return shown[selected]!;
      if (name === 'up') selected = Math.max(0, selected - 1);
      else if (name === 'down') selected = Math.min(shown.length - 1, selected + 1);
      else if (name === 'backspace') filter = filter.slice(0, -1);
      else if (!ctrl && isPrintable(sequence)) filter += sequence;
      if (name !== 'up' && name !== 'down') {
        shown = choices.map((_, at) => at).filter((at) => choices[at]!.label.toLowerCase().includes(filter.toLowerCase()));
        selected = 0;
      }
      draw();
    }
  }

  return {
    line,
    pick: (question, choices, fallback) => (choices.every(({ key }) => key !== undefined) ? pickKey : pickRow)(question, choices, fallback),
    close: keys.close,
  };
}

function isPrintable(sequence: string): boolean {
  return sequence !== '' && !/[\p{Cc}]/u.test(sequence);
}

/** Reads keys one after the other. The terminal is raw only while a key is awaited, so that Ctrl-C works as usual in between. */
function keyReader({ input, write, signal }: DialogStreams): { next(): Promise<Key>; close(): void } {
  const queue: Key[] = [];
  let receive: ((key: Key) => void) | null = null;
  const onKey = (_text: string | undefined, key: Key): void => {
    // One chunk of input may have several keys.
    const next = receive;
    receive = null;
    if (next) next(key);
    else queue.push(key);
  };
  emitKeypressEvents(input);
  input.on('keypress', onKey);

  async function pressed(): Promise<Key> {
    const early = queue.shift();
    if (early) return early;
    input.setRawMode!(true);
    input.resume();
    let stop = (): void => undefined;
    try {
      return await new Promise<Key>((done, failed) => {
        receive = done;
        stop = () => { failed(new Stopped()); };
        signal.addEventListener('abort', stop);
        input.on('end', stop);
      });
    } finally {
      signal.removeEventListener('abort', stop);
      input.removeListener('end', stop);
      receive = null;
      input.setRawMode!(false);
      input.pause();
    }
  }

  return {
    async next() {
      if (signal.aborted) throw new Stopped();
      const key = await pressed();
      if (!key.ctrl || (key.name !== 'c' && key.name !== 'd')) return key;
      write('\n');
      throw new Stopped();
    },
    close() {
      input.removeListener('keypress', onKey);
      input.pause();
    },
  };
}
