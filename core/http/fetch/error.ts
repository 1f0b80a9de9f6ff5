export type FetchErrorCode = 'address_refused' | 'bad_url' | 'too_large' | 'too_slow' | 'too_many_redirects' | 'unreachable' | 'bad_response';

/** Why there is no answer. The message is a sentence for the person who chose the address. */
export class FetchError extends Error {
  override readonly name = 'FetchError';
  readonly code: FetchErrorCode;

  constructor(code: FetchErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** An address as shown in errors: its query may hold secrets. */
export function shown(url: URL): string {
  return url.origin + url.pathname;
}

export function stopping(url: URL): FetchError {
  return new FetchError('unreachable', `${shown(url)} was not fetched: this process is stopping.`);
}

/** What undici threw while a request was under way, in our words. */
export function asFetchError(error: unknown, url: URL): unknown {
  if (error instanceof FetchError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  // A header no one may send is the caller's mistake, not an answer.
  if (code === 'UND_ERR_INVALID_ARG') return error;
  if (code === 'UND_ERR_DESTROYED') return stopping(url);
  return new FetchError('bad_response', `${shown(url)} gave no answer that can be understood: ${message}.`, { cause: error });
}

/** Returns what `doctor` advises when the public address of this instance cannot be requested. */
export function reachAdvice(error: unknown): string {
  const code = error instanceof FetchError ? error.code : null;
  if (code === 'address_refused') return 'the address is that of a private network: only apps in that network can connect; the others need a public https address';
  if (code === 'unreachable') return 'check the host name in public_url and its DNS record, start the server, and run bin/civic doctor again';
  return 'check the proxy and its certificate, and run bin/civic doctor again';
}
