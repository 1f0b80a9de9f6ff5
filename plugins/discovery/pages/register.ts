import type { Server } from '@hapi/hapi';
import type { AccountsService } from 'civic/accounts';
import type { AttentionSource } from 'civic/console';
import type { Section } from 'civic/workspaces';
import type { Decisions } from '../candidates/decide.ts';
import { countPending } from '../candidates/store.ts';
import type { Discovery } from '../context.ts';
import type { RunEvents } from '../runs/events.ts';
import { CONSOLE, operatorArea, SECTION, workspaceArea } from './area.ts';
import { discoveryPages } from './routes.ts';

/** Adds the pages of runs to the console and to every workspace. */
export function registerPages(server: Server, discovery: Discovery, { decisions, events, accounts }: { decisions: Decisions; events: RunEvents; accounts: AccountsService }): void {
  const { civic } = discovery;
  const workspaces = civic.serviceIfOn('workspaces');
  workspaces?.pages.section(section(discovery));
  accounts.consolePage({ plugin: 'discovery', label: 'runs.title', summary: 'runs.summary', path: CONSOLE, role: 'reviewer' });
  civic.serviceIfOn('console')?.attention(attention(discovery));
  for (const area of [operatorArea(discovery, accounts), ...(workspaces ? [workspaceArea(discovery, workspaces)] : [])]) server.route(discoveryPages(discovery, decisions, events, area));
}

/** Returns the section of a workspace, whose card states how many candidates wait. */
function section({ civic }: Discovery): Section {
  return {
    plugin: 'discovery', path: SECTION, label: 'runs.title',
    summary: async (reader, { workspace, request }) => (await civic.texts(request.civic.language))('runs.in_workspace', { count: await countPending(reader, workspace.id) }),
  };
}

/** States how many candidates of the operator's runs wait for a decision. */
function attention({ civic }: Discovery): AttentionSource {
  return {
    plugin: 'discovery',
    async load(language) {
      const count = await countPending(civic.db.read, null);
      if (count === 0) return [];
      const t = await civic.texts(language);
      return [{ title: t('runs.attention', { count }), isUrgent: false, link: { label: t('runs.title'), path: CONSOLE } }];
    },
  };
}
