import { definePlugin, Joi, type Caller, type CommandCall, type Terminal } from 'civic';
import { testServer, type TestResponse, type TestServer, type TestServerOptions } from 'civic/testing';
import accounts from '../index.ts';

/** Routes that ask for what accounts give. */
const probe = definePlugin({
  name: 'probe',
  summary: 'Routes for tests',
  needs: ['accounts'],
  scopes: {
    'probe:read': { label: 'Read probes' },
    'probe:write': { label: 'Create probes' },
    'probe:review': { label: 'Review probes', role: 'reviewer', onRequest: true },
    'probe:follow': { label: 'Follow probes', capability: 'probes' },
  },
  capabilities: { probes: { label: 'Probes', limit: 'probes' } },
  limits: { probes: { label: 'Probes', doc: 'How many probes can be open at once', plans: { individual: 5, team: 50 } } },
  register(server, civic) {
    const options = { description: 'A route for tests', validate: { query: Joi.object({}) }, response: { schema: Joi.any() } };
    const answer = (request: { auth: { credentials: unknown } }) => ({ caller: request.auth.credentials });
    server.route([
      { method: 'GET', path: '/api/probe/public', options, handler: answer },
      { method: 'GET', path: '/api/probe/private', options: { ...options, auth: { mode: 'required' } }, handler: answer },
      { method: 'GET', path: '/api/probe/written', options: { ...options, auth: { mode: 'required', access: { scope: ['probe:write'] } } }, handler: answer },
      { method: 'GET', path: '/api/probe/streamed', options: { ...options, auth: { mode: 'required' }, plugins: { civic: { plan: 'probes' } } }, handler: answer },
      {
        method: 'GET', path: '/api/probe/again', options: { ...options, validate: { query: Joi.object().unknown() } },
        handler: async ({ query }) => ({ caller: await civic.service('accounts').callerOf(civic.db.read, query as never) }),
      },
      { method: 'GET', path: '/api/probe/reviewed', options: { ...options, auth: { mode: 'required' }, plugins: { civic: { role: 'reviewer' } } }, handler: answer },
    ]);
  },
});

export interface AccountsKit extends TestServer {
  /** Runs a command as `bin/civic --json` would, and answers what it prints. */
  run(name: string, options?: CommandCall['options'], positionals?: string[]): Promise<any>;
  /** An account and a key of it. */
  person(options?: CommandCall['options'], key?: CommandCall['options']): Promise<Person>;
  /** Invites an account into a workspace and accepts for it. */
  join(owner: { key: string }, workspacePath: string, person: Person, role?: string): Promise<void>;
  as(key: string, method: string, path: string, options?: { payload?: unknown; headers?: Record<string, string> }): Promise<TestResponse>;
}

export interface Person {
  id: string;
  key: string;
  key_id: string;
  workspace_id: string;
}

let people = 0;

export async function accountsKit(options: TestServerOptions = {}): Promise<AccountsKit> {
  const kit = await testServer({ ...options, plugins: [accounts, probe, ...options.plugins ?? []] });
  const run = (name: string, given: CommandCall['options'] = {}, positionals: string[] = []) => runCommand(kit, name, given, positionals);
  const as: AccountsKit['as'] = (key, method, path, { payload, headers = {} } = {}) => kit.request(method, path, { payload, headers: { 'x-api-key': key, ...headers } });
  return Object.assign(kit, {
    run,
    as,
    join: (owner: { key: string }, path: string, person: Person, role = 'member') => joinWorkspace(kit, { owner: owner.key, member: person.key, member_id: person.id, path, role }),
    async person(given: CommandCall['options'] = {}, key: CommandCall['options'] = {}): Promise<Person> {
      const { id } = await run('account create', { name: `Person ${++people}`, plan: 'team', role: 'user', ...given });
      const made = await run('key create', { account: id, ...key });
      return { id, key: made.key, key_id: made.id, workspace_id: made.workspace_id };
    },
  });
}

/** Invites an account into a workspace by API and accepts with its own key. */
export async function joinWorkspace(kit: Pick<TestServer, 'request'>, { owner, member, member_id, path, role }: { owner: string; member: string; member_id: string; path: string; role: string }): Promise<void> {
  const invited = await kit.request('POST', `${path}/members`, { payload: { account_id: member_id, role }, headers: { 'x-api-key': owner } });
  if (invited.status !== 201) throw new Error(`The invitation failed: ${invited.text}`);
  const accepted = await kit.request('POST', `/api/invitations/${invited.body.invitation_id}/accept`, { headers: { 'x-api-key': member } });
  if (accepted.status !== 200) throw new Error(`Accepting failed: ${accepted.text}`);
}

/** Runs a command; an account that is not an administrator gets one before it when it would be the first. */
export async function runCommand(kit: TestServer, name: string, options: CommandCall['options'], positionals: string[]): Promise<any> {
  if (name === 'account create' && (options.role ?? 'admin') !== 'admin' && (await callCommand(kit, 'account list')).length === 0) await callCommand(kit, name, { name: 'Administrator' });
  return callCommand(kit, name, options, positionals);
}

export async function callCommand(kit: TestServer, name: string, options: CommandCall['options'] = {}, positionals: string[] = []): Promise<any> {
  const command = kit.composition.commands.find((one) => one.name === name);
  if (!command) throw new Error(`There is no command "${name}"`);
  let printed: unknown;
  const lines: string[] = [];
  const terminal: Terminal = {
    json: true,
    signal: new AbortController().signal,
    out: (line) => { lines.push(line); },
    err: () => undefined,
    print: (value, words) => { printed = value; words(); },
    progress: () => undefined,
    style: (_style, text) => text,
  };
  await command.run({ terminal, positionals, options, cwd: process.cwd() });
  return printed ?? lines;
}

export function callerIn(answer: TestResponse): Caller {
  return answer.body.caller as Caller;
}
