import type { ServerRoute } from '@hapi/hapi';
import { exceededHeaders, Joi, problem, respondOnce } from 'civic';
import type { WorkspacesService } from 'civic/workspaces';
import type { Readable } from 'node:stream';
import { checkMayDecide, ownerOf, type Discovery } from '../context.ts';
import { callerOf, writing } from '../runs/routes.ts';
import { RUNS } from '../runs/runs.ts';
import { MOST_BYTES, readBundle } from './bundle.ts';
import { newSync, receipt } from './schemas.ts';
import { createSyncs } from './sync.ts';

/** Of a workspace at the same time on this node, because bundles are in memory. */
const MOST_AT_ONCE = 2;
/** Of all workspaces on this node. */
const MOST_ON_NODE = 6;
const RETRY_MS = 5000;

export function syncRoutes(discovery: Discovery, workspaces: WorkspacesService | null): ServerRoute[] {
  const { civic } = discovery;
  const sync = createSyncs(discovery, workspaces);
  const active = new Map<string, number>();
  let total = 0;

  async function oneOfFew<Result>(workspaceId: string, work: () => Promise<Result>): Promise<Result> {
    const count = active.get(workspaceId) ?? 0;
    const now = civic.clock.now();
    if (total >= MOST_ON_NODE) throw problem('unavailable', { detail: `This server is storing ${total} syncs, which is as many as it accepts.`, headers: { 'retry-after': String(RETRY_MS / 1000) } });
    if (count >= MOST_AT_ONCE) throw problem('too_many_syncs', { detail: `${count} syncs of this workspace are being stored.`, headers: exceededHeaders({ limit: MOST_AT_ONCE, resetAt: now + RETRY_MS, now }) });
    active.set(workspaceId, count + 1);
    total++;
    try {
      return await work();
    } finally {
      total--;
      const left = active.get(workspaceId)! - 1;
      if (left > 0) active.set(workspaceId, left);
      else active.delete(workspaceId);
    }
  }

  return [{
    method: 'POST',
    path: `${RUNS}/syncs`,
    options: {
      description: 'Store the reviewed results of local research in the workspace',
      notes: 'For reviewers of the workspace. Entries become private actors; nothing is published. The same bundle again is 200 with `duplicate: true`. Another bundle with the same `local_run_id` updates entries by `local_id`; entries that it does not have stay as they are. The body has up to 32 MB; more than 500 entries are sent in parts, and each receipt is of its part.',
      auth: writing,
      payload: { output: 'stream', parse: 'gunzip', maxBytes: MOST_BYTES, allow: 'application/json' },
      validate: { query: Joi.object({}) },
      plugins: { civic: { plan: 'discovery', body: newSync, problems: ['invalid_request', 'malformed_body', 'workspace_forbidden', 'unlisted_person', 'sync_limit', 'sync_replaced', 'too_many_syncs', 'unavailable', ...(workspaces ? ['unknown_brief', 'unknown_list', 'unknown_coverage_target', 'list_full'] : [])] } },
      response: { status: { 200: receipt, 201: receipt }, sample: 0 },
    },
    async handler(request, h) {
      const caller = callerOf(request);
      const body = request.payload as Readable | null;
      try {
        const owner = ownerOf(caller, 'workspace');
        checkMayDecide(caller, owner);
        return await oneOfFew(owner.workspace_id!, async () => {
          const bundle = await readBundle(body);
          return respondOnce(request, h, bundle.hash, async () => {
            const { receipt: stored, isNew } = await sync({ ...caller, workspace_id: owner.workspace_id! }, bundle);
            return h.response(stored).code(isNew ? 201 : 200).location(civic.url(`${RUNS}/${stored.run_id}`));
          });
        });
      } catch (error) {
        // A body that is not read would block the response.
        body?.resume();
        throw error;
      }
    },
  }];
}
