import type { CommandCall, Terminal } from 'civic';
import type { TestServer } from 'civic/testing';
import { join } from 'node:path';

/** A plugin whose POST /api/wire publishes what it is given. */
export const WIRE = join(import.meta.dirname, '../../../test/plugins/wire');

export interface Person {
  id: string;
  key: string;
  key_id: string;
  workspace_id: string;
}

let people = 0;

/** An account of a plan and role, and a key of it. */
export async function newPerson(kit: TestServer, account: CommandCall['options'] = {}, key: CommandCall['options'] = {}): Promise<Person> {
  const { id } = await runCommand(kit, 'account create', { name: `Person ${++people}`, plan: 'team', role: 'user', ...account });
  const made = await runCommand(kit, 'key create', { account: id, ...key });
  return { id, key: made.key, key_id: made.id, workspace_id: made.workspace_id };
}

/** Invites an account into a workspace, and accepts with its own key. */
export async function joinWorkspace(kit: TestServer, owner: Pick<Person, 'key'>, workspaceId: string, member: Pick<Person, 'id' | 'key'>, role = 'member'): Promise<void> {
  const invited = await kit.request('POST', `/api/workspaces/${workspaceId}/members`, { payload: { account_id: member.id, role }, headers: { 'x-api-key': owner.key } });
  const accepted = await kit.request('POST', `/api/invitations/${invited.body.invitation_id}/accept`, { headers: { 'x-api-key': member.key } });
  if (accepted.status !== 200) throw new Error(`${invited.text} ${accepted.text}`);
}

/** Runs a command as `bin/civic --json` would, and returns what it prints. An account that would be the first gets an administrator before it. */
export async function runCommand(kit: TestServer, name: string, options: CommandCall['options'] = {}, positionals: string[] = []): Promise<any> {
  if (name === 'account create' && (options.role ?? 'admin') !== 'admin' && (await runCommand(kit, 'account list')).length === 0) await runCommand(kit, name, { name: 'Administrator' });
  const command = kit.composition.commands.find((one) => one.name === name);
  if (!command) throw new Error(`There is no command "${name}"`);
  let printed: unknown;
  const terminal: Terminal = {
    json: true, signal: new AbortController().signal, out: () => undefined, err: () => undefined, progress: () => undefined,
    print: (value) => { printed = value; }, style: (_style, text) => text,
  };
  await command.run({ terminal, positionals, options, cwd: process.cwd() });
  return printed;
}
