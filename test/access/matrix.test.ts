import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { bundledPlugins } from '../../core/load.ts';
import { createStand, type Stand } from './stand.ts';
import { table, WHO } from './table.ts';

export const notQuick = 'it tries every route';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** What is somebody else's does not exist. */
const HIDDEN = ['unknown_watched_source', 'not_found', 'unknown_actor', 'unknown_workspace', 'unknown_session', 'unknown_list', 'unknown_workspace_note', 'unknown_coverage_target', 'unknown_review', 'unknown_watch', 'unknown_feed', 'unknown_brief', 'unknown_run', 'unknown_candidate'];

describe('Who may do what', { timeout: 240_000 }, () => {
  let stand: Stand;
  before(async () => { stand = await createStand(bundledPlugins()); });
  after(() => stand.kit.close());

  for (const [route, cases] of Object.entries(table)) {
    it(`is kept by ${route}`, async () => {
      const [method, path] = route.split(' ') as [string, string];
      for (const asked of cases) {
        const seen: Record<string, string> = {};
        for (const who of WHO) {
          const { status, body, text } = await stand.ask(who, method, path, asked);
          if (status >= 500 || status === 429) throw new Error(`${who}: ${text}`);
          // Errors of JSON-RPC carry the problem as their data.
          const code = typeof body === 'object' ? (body.code ?? body.error?.data?.code) as string | undefined : undefined;
          const isHidden = asked.params !== undefined && HIDDEN.includes(code ?? '');
          seen[who] = [401, 403].includes(status) || isHidden ? code ?? String(status) : 'in';
        }
        expect(seen, JSON.stringify(asked.params ?? asked.query ?? {})).to.equal(asked.outcomes);
      }
    });
  }
});
