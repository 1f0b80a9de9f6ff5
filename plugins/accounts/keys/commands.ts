import { Failure, Misuse, nearest, type Command } from 'civic';
import { futureOption } from '../people/commands.ts';
import { personByOptions, WHO } from '../people/find.ts';
import type { Accounts } from '../service.ts';
import type { ListedKey } from './keys.ts';

export function keyCommands({ civic, keys, scopes }: Accounts): Command[] {
  return [
    {
      name: 'key create',
      summary: 'Create an API key and print it once',
      options: [
        ...WHO,
        { name: 'name', value: 'text', summary: 'The purpose of the key, shown in lists' },
        { name: 'scopes', value: 'list', summary: 'What the key may do, separated by commas; by default all that the plan and the role allow, except scopes given only on request. An unknown scope is rejected with the list of all', multiple: true },
        { name: 'expires', value: 'date', summary: 'When the key expires; by default never' },
        { name: 'workspace', value: 'id', summary: 'The workspace of the key; required if the account belongs to several' },
      ],
      examples: ['bin/civic key create --account ada@example.org --name "nightly import"', 'bin/civic key create --account ada@example.org --scopes workspace:read,workspace:write --expires 2027-01-31 --json'],
      needs: 'database',
      writes: true,
      existing: true,
      async run({ terminal, options }) {
        const wanted = { name: nameOption(options.name), scopes: scopesOption(options.scopes, scopes.names), expires_at: futureOption('expires', options.expires, civic.clock.now()) ?? null, workspace_id: options.workspace as string | undefined };
        const made = await withAdvice(() => civic.db.write(async (tx) => keys.create(tx, await personByOptions(tx, options), wanted)));
        const { id, key, ...rest } = made;
        terminal.print({ id, key, ...rest }, () => `${key}\nKeep it now: it is not shown again.\nScopes: ${rest.scopes.join(', ')}${rest.expires_at === null ? '' : `\nExpires: ${rest.expires_at}`}`);
      },
    },
    {
      name: 'key list',
      summary: 'List API keys with their accounts, names and last use; secrets are not shown',
      options: WHO,
      examples: ['bin/civic key list', 'bin/civic key list --account ada@example.org --json'],
      needs: 'database',
      async run({ terminal, options }) {
        const person = options.account === undefined && options.email === undefined ? null : await personByOptions(civic.db.read, options);
        const all = await keys.list(civic.db.read, person?.key ?? null);
        terminal.print(all, () => (all.length === 0 ? 'There are no keys: bin/civic key create creates one.' : all.map(described).join('\n')));
      },
    },
    {
      name: 'key revoke',
      summary: 'Revoke an API key; every node rejects it within a second',
      arguments: '<id>',
      examples: ['bin/civic key revoke 3fK9aZ0q'],
      needs: 'database',
      writes: true,
      existing: true,
      async run({ terminal, positionals }) {
        const id = positionals[0]!;
        const revoked = await civic.db.write((tx) => keys.revoke(tx, id));
        if (!revoked) throw new Failure('There is no key with this id: it is the part between the two underscores. bin/civic key list shows all.');
        terminal.print(revoked, () => `Revoked the key ${revoked.id} (${revoked.name}) of ${revoked.account_id}.`);
      },
    },
  ];
}

/** The next step of an operator, by problem code. */
const HINTS: Record<string, string> = {
  plan_required: ' bin/civic account set-plan sets another plan.',
  key_limit: ' Revoke a key that is no longer used with bin/civic key revoke.',
};

/** Turns a problem of the API into a failure of the command: fields become options, and the next step is added. */
async function withAdvice<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { isBoom, data, message } = error as Error & { isBoom?: boolean; data?: { code: string } };
    if (!isBoom || !data) throw error;
    throw new Failure(message.replace(/^workspace_id:/, '--workspace:').replace(/^scopes:/, '--scopes:') + (HINTS[data.code] ?? ''));
  }
}

function nameOption(name: unknown): string {
  const text = ((name as string | undefined) ?? 'command line').trim();
  if (text.length < 1 || text.length > 200) throw new Misuse('--name must have 1 to 200 characters');
  return text;
}

function scopesOption(given: unknown, known: string[]): string[] | undefined {
  if (given === undefined) return undefined;
  const scopes = (given as string[]).flatMap((text) => text.split(/[\s,]+/)).filter(Boolean);
  const wrong = scopes.filter((scope) => !known.includes(scope));
  if (wrong.length > 0 || scopes.length === 0) throw new Misuse(`--scopes takes ${known.join(', ')}${wrong.length > 0 ? `, not ${wrong.join(', ')}${meantText(wrong, known)}` : ''}`);
  return scopes;
}

function meantText(wrong: string[], known: string[]): string {
  const meant = wrong.map((scope) => nearest(scope, known)).filter((scope) => scope !== undefined);
  return meant.length > 0 ? `; did you mean ${meant.join(', ')}?` : '';
}

function described({ id, name, account_id, account_name, account_email, created_at, expires_at, revoked_at, last_used_at }: ListedKey): string {
  const state = revoked_at !== null ? `revoked ${revoked_at}` : expires_at !== null ? `until ${expires_at}` : 'no end';
  const owner = account_email === null || account_email === account_name ? account_name : `${account_name} <${account_email}>`;
  return `${id}  ${name}, of ${owner} (${account_id}), created ${created_at}, ${state}, ${last_used_at === null ? 'never used' : `used ${last_used_at}`}`;
}
