import { lazily } from 'civic';
import { callTool, toolCallOf } from './direct.ts';
import type { Era2026 } from './era2026.ts';
import type { McpCall, Offer } from './offer.ts';

/** The SDKs are loaded after the start, because they take longer to load than the rest of it. */
const load2025 = lazily(() => import('./era2025.ts'));
export const load2026 = lazily(() => import('./era2026.ts'));

/** A POST with its parsed body. */
export interface McpRequest {
  headers: Record<string, string | undefined>;
  body: unknown;
}

/** `text` is JSON, or empty. */
export interface McpResponse {
  status: number;
  text: string;
}

/** Serves a JSON-RPC message: calls of tools directly, others with the SDK of their era. */
export type Serve = (request: McpRequest, call: McpCall) => Promise<McpResponse>;

export function createServe(offer: Offer): { serve: Serve; close(): Promise<void> } {
  let era2026: Era2026 | null = null;
  return {
    async serve(request, call) {
      const toolCall = toolCallOf(request);
      if (toolCall && offer.hasTool(toolCall.name)) return callTool(offer, toolCall, call);
      const { create2026, routeOf } = await load2026();
      if (routeOf(request).kind === 'legacy') return (await load2025()).serve2025(offer, request, call);
      era2026 ??= create2026(offer);
      return era2026.serve(request, call);
    },
    close: async () => { await era2026?.close(); },
  };
}
