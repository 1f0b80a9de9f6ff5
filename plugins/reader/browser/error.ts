/** Why a page could not be rendered. The message is a sentence for the person who chose the address. */
export class RenderError extends Error {
  override readonly name = 'RenderError';
  readonly reason: 'render_failed' | 'too_slow' | 'too_large';

  constructor(reason: RenderError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
