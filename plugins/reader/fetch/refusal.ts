import type { ReadReason } from './types.ts';

/** Thrown before a request that must not be sent, or not yet. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reason: ReadReason;
  /** When it may be tried again; null for a rule that will not change soon. */
  readonly retryAt: number | null;

  constructor(reason: ReadReason, message: string, retryAt: number | null = null) {
    super(message);
    this.reason = reason;
    this.retryAt = retryAt;
  }
}
