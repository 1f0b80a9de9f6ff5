import type { Caller } from 'civic';
import { stoppedClock, testServer, type TestResponse, type TestServer } from 'civic/testing';

export interface Person {
  id: string;
  key: string;
  workspace_id: string;
}

export interface WorkspacesKit extends TestServer {
  clock: ReturnType<typeof stoppedClock>;
  /** An account with a key of it and its personal workspace. */
  person(options?: object, key?: object): Promise<Person>;
  as(key: string, method: string, path: string, payload?: unknown, headers?: Record<string, string>): Promise<TestResponse>;
  /** Creates an actor and returns it. */
  actor(name: string, by?: Partial<Caller>, visibility?: string): Promise<any>;
  run(name: string, options?: object, positionals?: string[]): Promise<any>;
}

export interface KitOptions {
  plugins?: any[];
  /** The section of the plugin in the config file. */
  config?: object;
  /** The sections of other plugins. */
  sections?: object;
  /** How often jobs are looked for; each time costs queries. */
  pollSeconds?: number;
  /** Listens on a free port; `url` is its address. */
  listen?: boolean;
  /** Listens there, at `http://localhost:<port>`. */
  port?: number;
  publicUrl?: string;
}

export async function workspacesKit(database: 'sqlite' | 'postgres', { plugins = [], config = {}, sections = {}, pollSeconds = 1, listen = false, port, publicUrl }: KitOptions = {}): Promise<WorkspacesKit> {
  const clock = stoppedClock('2026-03-01T12:00:00.000Z');
  const kit = await testServer({
    database, clock, plugins: ['accounts', 'directory', 'workspaces', ...plugins], listen: listen || port !== undefined,
    config: { jobs: { poll_seconds: pollSeconds }, ...(publicUrl !== undefined && { public_url: publicUrl }), ...(port !== undefined && { http: { port }, public_url: `http://localhost:${port}` }), plugins: { workspaces: config, ...sections } } as never,
  });
  const run: WorkspacesKit['run'] = async (name, options = {}, positionals = []) => {
    const command = kit.composition.commands.find((one) => one.name === name)!;
    const lines: string[] = [];
    let printed: unknown;
    const terminal = {
      json: true, signal: new AbortController().signal, out: (line: string) => { lines.push(line); }, err: () => undefined,
      print: (value: unknown, words: () => string) => { printed = value; words(); }, progress: () => undefined, style: (_style: unknown, text: string) => text,
    };
    await command.run({ terminal: terminal as never, positionals, options: options as never, cwd: process.cwd() });
    return printed ?? lines;
  };
  await run('account create', { name: 'Administrator' });
  return Object.assign(kit, {
    clock, run,
    async person(options: object = {}, key: object = {}): Promise<Person> {
      const { id } = await run('account create', { name: 'Ada', plan: 'team', role: 'user', ...options });
      const made = await run('key create', { account: id, ...key });
      return { id, key: made.key, workspace_id: made.workspace_id };
    },
    as: (key: string, method: string, path: string, payload?: unknown, headers: Record<string, string> = {}) => kit.request(method, path, { payload, headers: { 'x-api-key': key, ...headers } }),
    async actor(name: string, by: Partial<Caller> = {}, visibility = 'public') {
      const made = await kit.request('POST', '/api/entities', {
        payload: {
          type: 'organization', visibility, sources: [{ local_id: 's', url: `https://example.org/${encodeURIComponent(name)}` }],
          claims: [{ property: 'name', value: name, source_local_id: 's' }, { property: 'place', value: 'gladstone,missouri', source_local_id: 's' }, { property: 'issue_area', value: 'housing_affordability', source_local_id: 's' }],
        },
        as: { role: 'reviewer', scope: ['entities:write'], ...by },
      });
      if (made.status !== 201) throw new Error(made.text);
      return made.body;
    },
  });
}
