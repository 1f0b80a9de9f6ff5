import { lazily } from 'civic';
import type { McpCall, Offer } from './offer.ts';

/** The SDKs take longer to load than the rest of a start, so the first request or the background loads them. */
const load2025 = lazily(() => import('./era2025.ts'));
export const load2026 = lazily(() => import('./era2026.ts'));

/** A POST with its parsed body. */
export interface McpRequest {
  headers: Record<string, string | undefined>;
  body: unknown;
}

/** JSON, or nothing. */
export interface McpResponse {
  status: number;
  text: string;
}

/** Serves a JSON-RPC message in the era of its client. */
export type Serve = (request: McpRequest, call: McpCall) => Promise<McpResponse>;

export function createServe(offer: Offer): { serve: Serve; close(): Promise<void> } {
  let handler2026: ReturnType<(typeof import('./era2026.ts'))['create2026']> | null = null;
  return {
    async serve(request, call) {
      const { create2026, isOf2025, serve2026 } = await load2026();
      if (isOf2025(request)) return (await load2025()).serve2025(offer, request, call);
      handler2026 ??= create2026(offer);
      return serve2026(handler2026, request, call);
    },
    close: async () => { await handler2026?.close(); },
  };
}
