import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { matchUri } from '../assistant/uri.ts';
import type { AssistantClient, Tool } from '../assistant/types.ts';
import { definePlugin, type Caller, type Civic, type Plugin } from '../plugin.ts';
import { problem } from '../problems.ts';
import { testServer } from '../testing.ts';
import { newId } from '../ids.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const call: AssistantClient = { caller: null, signal: new AbortController().signal };
const caller: Caller = { account_id: newId(), via: 'token', scope: [], role: 'user', plan: 'free', capabilities: [], workspace_id: null, workspace_role: null };

const ring: Tool = {
  name: 'ring',
  title: 'Ring a bell',
  description: 'Rings.',
  readOnly: true,
  destructive: false,
  input: Joi.object({ times: Joi.number().integer().max(3).default(1).description('How often') }),
  output: Joi.object({ sound: Joi.string().required() }),
  run: async ({ times }) => ({ data: { sound: 'dong '.repeat(times).trim() }, text: 'It rang.' }),
};

/** Returns a plugin that calls `register`, and the `civic` that core passed to it. */
function bells(register: (civic: Civic) => void): { plugin: Plugin; civic(): Civic } {
  let received: Civic;
  const plugin = definePlugin({
    name: 'bells',
    summary: 'Bells',
    scopes: { 'bells:ring': { label: 'Ring bells' } },
    limits: { bells_rung: { label: 'Bells', doc: 'Bells' } },
    capabilities: { bells: { label: 'Bells', limit: 'bells_rung' } },
    register(_server, civic) {
      received = civic;
      register(civic);
    },
  });
  return { plugin, civic: () => received };
}

async function withTool(tool: Partial<Tool>, work: (run: (input?: unknown, more?: Partial<AssistantClient>) => Promise<unknown>) => Promise<void>): Promise<void> {
  const { plugin, civic } = bells((one) => one.tool({ ...ring, ...tool } as Tool));
  const kit = await testServer({ plugins: [plugin] });
  try {
    const { assistant } = civic();
    await work((input, more) => assistant.call(assistant.tools.get('ring')!, input, { ...call, ...more }));
  } finally {
    await kit.close();
  }
}

/** Returns the error message of a start; `none` when it succeeds. */
async function faultOf(register: (civic: Civic) => void): Promise<string> {
  try {
    await (await testServer({ plugins: [bells(register).plugin], open: false })).close();
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('civic.tool', () => {
  it('runs with checked arguments and defaults', () => withTool({}, async (run) => {
    expect(await run()).to.equal({ data: { sound: 'dong' }, text: 'It rang.', json: '{"sound":"dong"}' });
    expect(await run({ times: '2' })).to.include({ data: { sound: 'dong dong' } });
    await expect(run({ times: 4, loud: true })).to.reject('times must be less than or equal to 3 (and 1 more)');
  }));

  it('rejects a call without arguments that lacks a required one', () => withTool({ input: Joi.object({ times: Joi.number().required().description('How often') }) }, async (run) => {
    await expect(run(undefined)).to.reject('times is required');
  }));

  it('gets the names of the arguments that the assistant sent', () => withTool({ run: async (_input, { given }) => ({ data: { sound: given.join() }, text: '' }) }, async (run) => {
    expect(await run({ times: 2 })).to.include({ data: { sound: 'times' } });
    await expect(run({})).to.reject(/"sound" is not allowed to be empty/);
  }));

  it('requires the scope, role and plan of the caller', async () => {
    await withTool({ scope: 'bells:ring' }, async (run) => {
      await expect(run({})).to.reject('This needs an account');
      const error = await expect(run({}, { caller: { ...caller, scope: ['other:read'] } })).to.reject('This needs the scope bells:ring.') as { data: object };
      expect(error.data).to.include({ extra: { scopes: ['bells:ring'] } });
      expect(await run({}, { caller: { ...caller, scope: ['bells:ring'] } })).to.be.an.object();
    });
    await withTool({ plan: 'bells' }, async (run) => { await expect(run({}, { caller })).to.reject('The plan free does not include bells.'); });
    await withTool({ role: 'admin' }, async (run) => { await expect(run({}, { caller })).to.reject('This needs the role admin; yours is user.'); });
  });

  it('fails in tests when it is readOnly and writes', async () => {
    const { plugin, civic } = bells((one) => one.tool({ ...ring, run: async () => {
      await one.db.write(async () => undefined);
      return { data: { sound: 'dong' }, text: '' };
    } }));
    const kit = await testServer({ plugins: [plugin] });
    const { assistant } = civic();
    await expect(assistant.call(assistant.tools.get('ring')!, {}, call)).to.reject('db.write was used inside the tool ring, which is readOnly');
    await kit.db.write(async () => undefined);
    await kit.close();
  });

  it('fails in tests when the result does not match its schema', () => withTool({ run: async () => ({ data: { noise: 1 }, text: '' }) }, async (run) => {
    await expect(run()).to.reject(/The result of the tool ring does not match its schema: "sound" is required/);
  }));

  it('fails without a text, which clients that show text need', () => withTool({ run: async () => ({ data: { sound: 'dong' } }) as never }, async (run) => {
    await expect(run()).to.reject('The result of the tool ring has no text');
  }));

  it('fails in tests when the JSON is not that of the data', async () => {
    const withJson = (json: string) => withTool({ run: async () => ({ data: { sound: 'dong' }, text: '', json }) }, async (run) => { await run(); });
    await withJson('{"sound":"dong"}');
    await expect(withJson('{"sound":"ding"}')).to.reject('The JSON of the tool ring is not that of its data');
  });

  it('throws the problems of run unchanged', () => withTool({ run: async () => { throw problem('not_found', { detail: 'No bell.' }); } }, async (run) => {
    await expect(run()).to.reject('No bell.');
  }));

  it('is rejected without a title, hints, descriptions or declared names, with contradicting hints, or with the name of another tool', async () => {
    const wrong = (tool: object) => faultOf((civic) => civic.tool({ ...ring, ...tool } as Tool));
    expect(await wrong({ title: '' })).to.include('The tool ring cannot be declared: it has no title');
    expect(await wrong({ readOnly: undefined })).to.include('it does not declare readOnly');
    expect(await wrong({ destructive: undefined })).to.include('it does not declare destructive');
    expect(await wrong({ destructive: true })).to.include('it is readOnly and destructive, which exclude each other');
    expect(await wrong({ scope: 'entities:write' })).to.include('it is readOnly, but needs the scope entities:write');
    expect(await wrong({ input: Joi.object({ times: Joi.number() }) })).to.include('its argument times has no description');
    expect(await wrong({ input: Joi.string() })).to.include('its input is not a Joi object');
    expect(await wrong({ scope: 'bells:rign' })).to.include('the tool ring (bells): it needs the scope "bells:rign", which no plugin that runs declares');
    expect(await wrong({ scopes: ['bells:ring'] })).to.include('it has a member "scopes", which is not known: did you mean "scope"?');
    expect(await wrong({ role: 'owner' })).to.include('its role is "owner", not reviewer or admin');
    expect(await wrong({ plan: 'bell' })).to.include('it needs the capability "bell", which no plugin that runs declares');
    expect(await faultOf((civic) => { civic.tool(ring); civic.tool(ring); })).to.include('The tool ring belongs to the plugin bells already');
    expect(await wrong({})).to.equal('none');
  });

  it('has a JSON Schema that needs no other document', async () => {
    const note = Joi.object({ text: Joi.string().required() }).meta({ name: 'Note' });
    const { plugin, civic } = bells((one) => one.tool({ ...ring, input: Joi.object({ kinds: Joi.array().items(Joi.string()).single().description('Kinds') }), output: Joi.object({ notes: Joi.array().items(note).required() }).meta({ name: 'Notes' }) }));
    await (await testServer({ plugins: [plugin], open: false })).close();
    const { input, output } = civic().assistant.schemasOf(civic().assistant.tools.get('ring')!);
    expect(input).to.include({ type: 'object', properties: { kinds: { type: 'array', items: { type: 'string', minLength: 1 }, description: 'Kinds' } } });
    expect(JSON.stringify(output)).to.include('"$ref":"#/$defs/Note"').and.not.include('#/components');
    expect(Object.keys(output.$defs as object)).to.equal(['Note']);
  });
});

describe('civic.resource', () => {
  it('is found by its template and read', async () => {
    const { plugin, civic } = bells((one) => one.resource({ uri: 'civic://bells/{name}/sound', name: 'bell', title: 'Bell', description: 'A bell.', read: async ({ name }) => `${name}!` }));
    const kit = await testServer({ plugins: [plugin] });
    const { assistant } = civic();
    const found = assistant.match('civic://bells/big%20ben/sound')!;
    expect(await assistant.read(found.resource, found.variables, call)).to.equal('big ben!');
    expect(assistant.match('civic://bells/a/b/sound')).to.be.null();
    expect(await faultOf((other) => other.resource({ uri: 'bells', name: 'bell', title: 'Bell', description: 'A bell.', read: async () => '' }))).to.include('its uri is not a URI such as civic://notes/{id}');
    await kit.close();
  });

  it('has variables that match one segment of a path, decoded', () => {
    expect(matchUri('a://x/{id}', 'a://x/1%2C2')).to.equal({ id: '1,2' });
    expect(matchUri('a://x/{id}', 'a://x/1/2')).to.be.null();
    expect(matchUri('a://x/{id}', 'a://x/%')).to.be.null();
    expect(matchUri('a://x.y/{id}', 'a://xzy/1')).to.be.null();
    expect(matchUri('a://x', 'a://x')).to.equal({});
  });
});

describe('civic.prompt', () => {
  it('returns its text for checked arguments, which are strings', async () => {
    const wake = { name: 'wake', title: 'Wake', description: 'Wakes.', arguments: Joi.object({ who: Joi.string().required().description('Whom') }), text: ({ who }: { who: string }) => `Wake ${who}.` };
    const { plugin, civic } = bells((one) => one.prompt(wake));
    await (await testServer({ plugins: [plugin], open: false })).close();
    const { assistant } = civic();
    expect(await assistant.write(assistant.prompts.get('wake')!, { who: 'Ada' })).to.equal('Wake Ada.');
    await expect(assistant.write(assistant.prompts.get('wake')!, {})).to.reject('who is required');
    expect(await faultOf((other) => other.prompt({ ...wake, arguments: Joi.object({ who: Joi.number().description('Whom') }) }))).to.include('its argument who is not a string');
  });
});
