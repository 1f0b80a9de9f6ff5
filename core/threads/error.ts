export type ThreadErrorCode = 'too_slow' | 'out_of_memory' | 'failed';

/** Why a call in a thread has no result. `failed` has the error of the function as its cause. */
export class ThreadError extends Error {
  override readonly name = 'ThreadError';
  readonly code: ThreadErrorCode;

  constructor(code: ThreadErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
