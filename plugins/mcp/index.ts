import { definePlugin, type Civic } from 'civic';
import { endpointCheck } from './check.ts';
import { mcpOptions, type McpConfig } from './config.ts';
import { connectorTools } from './connector.ts';
import { rpcErrors } from './errors.ts';
import { createIncidents } from './incidents.ts';
import { createOffer } from './offer.ts';
import { mcpProblems } from './problems.ts';
import { mcpRoute } from './route.ts';
import { createServe } from './serve.ts';
import { stdioCommand } from './stdio.ts';

/** Creates the plugin with an offer. The tests of conformance pass another one, with the tools that the suite calls. */
export const mcpPlugin = (offerOf: typeof createOffer) => definePlugin<McpConfig>({
  name: 'mcp',
  summary: 'The tools of all plugins for AI assistants, over the Model Context Protocol',
  reference: { title: 'Assistants (MCP)', order: 50 },
  config: mcpOptions,
  uses: ['accounts', 'directory', 'oauth'],
  rates: { mcp: { label: 'assistants', per_minute: 600, per_hour: 6000, plan: true } },
  paths: { '/mcp': { audience: 'programs', rate: 'mcp', errors: rpcErrors({ hasOauth: true }) } },
  problems: mcpProblems,

  register(server, civic) {
    const { serve, close } = createServe(offerOf(civic));
    const directory = civic.serviceIfOn('directory');
    for (const tool of directory ? connectorTools(directory) : []) civic.tool(tool);
    const oauth = civic.serviceIfOn('oauth');
    oauth?.protect({ path: '/mcp', name: 'Tools for assistants', plugin: 'mcp', text: 'resource.name', scopes: () => scopesOf(civic) });
    civic.examples({
      'POST /mcp': {
        variables: { CIVIC_TOKEN: 'An access token for this address.' },
        headers: { Authorization: 'Bearer $CIVIC_TOKEN', Accept: 'application/json, text/event-stream' },
        body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
        manual: 'An assistant gets the access token when a user approves it; an API key is rejected here.',
      },
    });
    civic.command(stdioCommand(civic));
    const hasOauth = oauth !== null;
    civic.check(endpointCheck(civic, { hasOauth }));
    const { record, written } = createIncidents(civic);
    server.route(mcpRoute({ civic, hasOauth, serve, record }));
    return { stop: async () => { await Promise.all([close(), written()]); } };
  },
});

export default mcpPlugin(createOffer);

/** Returns the scopes that calls can need: those of tools, and the scopes with which plugins of tools also return private data. */
function scopesOf({ assistant, vocabulary }: Pick<Civic, 'assistant' | 'vocabulary'>): string[] {
  const tools = [...assistant.tools.values()];
  const isUseful = (scope: string, plugin: string) => {
    return tools.some((tool) => tool.scope === scope || (tool.plugin === plugin && scope.endsWith(':read')));
  };
  return [...vocabulary.scopes].filter(([scope, { plugin }]) => isUseful(scope, plugin)).map(([scope]) => scope);
}
