import { createInterface, type Interface } from 'node:readline';
import type { Answers, Choice, DialogStreams } from './question.ts';

/** Reads answers as lines, for pipes, screen readers and terminals without cursor control. */
export function lineAnswers({ input, write, style, signal }: DialogStreams): Answers {
  const lines: string[] = [];
  const waiting: ((line: string | null) => void)[] = [];
  let hasEnded = false;
  const reader: Interface = createInterface({ input, terminal: false, signal });
  reader.on('line', (line) => {
    const next = waiting.shift();
    if (next) next(line);
    else lines.push(line);
  });
  reader.on('close', () => {
    hasEnded = true;
    for (const next of waiting.splice(0)) next(null);
  });

  async function nextLine(): Promise<string | null> {
    const line = lines.shift();
    if (line !== undefined || hasEnded) return line ?? null;
    return new Promise((done) => { waiting.push(done); });
  }

  async function line(prompt: string): Promise<string | null> {
    write(prompt);
    const answer = await nextLine();
    // A pipe does not echo what it sends.
    if (!input.isTTY) write('\n');
    return answer;
  }

  return {
    line,
    async pick(question, choices, fallback) {
      const hasKeys = choices.every(({ key }) => key !== undefined);
      if (!hasKeys) write(`${style('bold', question)}\n${choices.map(({ label }, at) => `${String(at + 1).padStart(4)}. ${label}`).join('\n')}\n`);
      const preset = fallback < 0 ? '' : ` [${choices[fallback]!.key ?? fallback + 1}]`;
      const prompt = hasKeys ? `${style('bold', question)} ${choices.map(({ key, label }) => `${key} ${label}`).join(', ')}${preset}: ` : `Number${preset}: `;
      for (;;) {
        const given = await line(prompt);
        if (given === null) return null;
        const at = given.trim() === '' ? fallback : indexOf(given.trim(), choices);
        if (at >= 0) return at;
        write(`${style('red', hasKeys ? `Answer with one of: ${choices.map(({ key }) => key).join(', ')}` : `Answer with a number from 1 to ${choices.length}`)}\n`);
      }
    },
    close() { reader.close(); },
  };
}

function indexOf(given: string, choices: Choice<unknown>[]): number {
  const folded = given.toLowerCase();
  const named = choices.findIndex(({ key, label }) => key === folded || label.toLowerCase() === folded);
  if (named >= 0 || choices.every(({ key }) => key !== undefined)) return named;
  return /^\d{1,4}$/.test(given) && Number(given) <= choices.length ? Number(given) - 1 : -1;
}
