import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Acknowledged } from './compare.ts';

/** Where a writer sends to. */
export interface Target {
  /** Null while nothing listens there. */
  pool: Pool | null;
  /** Whether 503 is a right answer: the process is stopping, or its database is away. */
  mayRefuse(): boolean;
}

export interface Writers {
  readonly acknowledged: Acknowledged[];
  readonly chores: string[];
  /** Every text that was ever sent. */
  readonly sent: Set<string>;
  /** Answers by status; `cut` are requests that never got one. */
  readonly answers: Record<string, number>;
  /** Answers that no caller should ever see. */
  readonly faults: string[];
  pause(): Promise<void>;
  resume(): void;
  /** Lets the writers rest once so many notes are acknowledged in all. */
  limit(notes: number): void;
}

export interface WriterOptions {
  count: number;
  /** The target of a writer. */
  targetOf: (writer: number) => Target;
}

const CHORE_EACH = 50;
const CHORE_MILLISECONDS = 20;
const headers = { 'content-type': 'application/json' };

export function openPool(url: string, connections: number): Pool {
  return new Pool(url, { connections, pipelining: 1, headersTimeout: 60_000 });
}

/** Writers that each send one request after the other, as fast as they are answered, up to a limit. */
export function createWriters({ count, targetOf }: WriterOptions): Writers {
  const acknowledged: Acknowledged[] = [];
  const chores: string[] = [];
  const sent = new Set<string>();
  const answers: Record<string, number> = {};
  const faults: string[] = [];
  let isRunning = false;
  let most = Infinity;
  let working: Promise<unknown> = Promise.resolve();

  async function post(pool: Pool, target: Target, path: string, payload: object): Promise<{ id: string } | null> {
    const { statusCode, body } = await pool.request({ method: 'POST', path, headers, body: JSON.stringify(payload) });
    const text = await body.text();
    answers[statusCode] = (answers[statusCode] ?? 0) + 1;
    if (statusCode === 201) return JSON.parse(text);
    if (statusCode !== 503 || !target.mayRefuse()) faults.push(`POST ${path} answered ${statusCode}: ${text.slice(0, 300)}`);
    if (/locked|SQLITE|ECONN/i.test(text)) faults.push(`POST ${path} answered with the cause: ${text.slice(0, 300)}`);
    return null;
  }

  async function write(writer: number, number: number): Promise<void> {
    const target = targetOf(writer);
    const { pool } = target;
    if (!pool || acknowledged.length >= most) return sleep(20);
    try {
      if (number % CHORE_EACH === 0) {
        const chore = await post(pool, target, '/api/chores', { milliseconds: CHORE_MILLISECONDS });
        if (chore) chores.push(chore.id);
        return;
      }
      const text = `note ${number} of writer ${writer}`;
      sent.add(text);
      const note = await post(pool, target, '/api/notes', { text });
      if (note) acknowledged.push({ writer, id: note.id, text });
    } catch {
      answers.cut = (answers.cut ?? 0) + 1;
      await sleep(20);
    }
  }

  const numbers = Array.from({ length: count }, (_, writer) => writer);
  async function work(writer: number): Promise<void> {
    while (isRunning) await write(writer, numbers[writer]!++);
  }

  return {
    acknowledged,
    chores,
    sent,
    answers,
    faults,
    async pause() {
      isRunning = false;
      await working;
    },
    resume() {
      isRunning = true;
      working = Promise.all(Array.from({ length: count }, (_, writer) => work(writer)));
    },
    limit(notes) { most = notes; },
  };
}
