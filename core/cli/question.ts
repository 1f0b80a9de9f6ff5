import { Failure } from './command.ts';
import type { Style } from './style.ts';

export interface Question {
  text: string;
  /** What a call without a person gives instead: `--location <place>`. */
  instead: string;
}

export interface TextQuestion extends Question {
  /** What an empty answer means. */
  fallback?: string;
  /** Returns what is wrong with an answer; null accepts it. */
  fault?(answer: string): string | null;
}

export interface Choice<Value> {
  value: Value;
  label: string;
  /** A letter that chooses it. All choices of a question have one, or none. */
  key?: string;
}

export interface ChoiceQuestion<Value> extends Question {
  choices: Choice<Value>[];
  /** What an empty answer means. */
  fallback?: Value;
}

/** Asks the person at the terminal: by keys on a terminal, by lines elsewhere, so that pipes and screen readers work. */
export interface Dialog {
  readonly hasKeys: boolean;
  /** The width of the terminal. */
  readonly columns: number;
  /** Empties the screen; writes an empty line where answers are lines. */
  clear(): void;
  text(question: TextQuestion): Promise<string>;
  /** Asks for a text that is not shown. */
  secret(question: Question): Promise<string>;
  confirm(question: Question & { fallback: boolean }): Promise<boolean>;
  choice<Value>(question: ChoiceQuestion<Value>): Promise<Value>;
}

/** How answers are read. Null: the input has ended. */
export interface Answers {
  line(prompt: string, isSecret: boolean): Promise<string | null>;
  /** Returns the index of a choice. `fallback` is that of an empty answer, or -1. */
  pick(question: string, choices: Choice<unknown>[], fallback: number): Promise<number | null>;
  close(): void;
}

export type AnswerStream = NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };

/** The streams of a dialog. */
export interface DialogStreams {
  readonly input: AnswerStream;
  /** Whether the input is a terminal, which gives single keys. */
  hasKeys: boolean;
  write(text: string): void;
  /** Whether the output can redraw lines. */
  isTerminal: boolean;
  columns: number;
  style(style: Style, text: string): string;
  signal: AbortSignal;
}

/** The person ended a question with Ctrl-C. */
export class Stopped extends Failure {
  constructor() {
    super('Stopped.');
  }
}
