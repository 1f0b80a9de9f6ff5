import { Failure, type Civic, type Command, type CommandCall, type Texts } from 'civic';
import type { Doer } from 'civic/accounts';
import { addEntry, deleteListed, listEntries, readRequest, removeEntry, type UnlistedContext, type Fields, type ShownEntry } from './service.ts';
import type { UnlistRequest } from './people.ts';
import type { ListedPerson } from './register.ts';

type Context = UnlistedContext & { civic: Pick<Civic, 'texts'> };

const OPERATOR: Doer = { account_id: null, address: null };
const AT_ONCE = 500;
const PERSON = [
  { name: 'name', value: 'name', summary: 'First and family name; needs --place' },
  { name: 'place', value: 'place', summary: 'Where the person is known: a city, a county or a state' },
  { name: 'email', value: 'address', summary: 'An e-mail address' },
  { name: 'phone', value: 'number', summary: 'A telephone number' },
  { name: 'url', value: 'url', summary: 'A page or profile of the person' },
];

/** How operators keep the register of people who asked not to be listed. */
export function unlistedCommands(context: Context): Command[] {
  return [
    {
      name: 'unlisted add',
      summary: 'Add a person who asked not to be listed; only hashes are stored',
      options: [...PERSON, { name: 'reference', value: 'text', summary: 'What you find the request by, such as a letter number; no personal data' }, { name: 'delete', summary: 'Also delete the public entries that match' }],
      examples: ["bin/civic unlisted add --name 'Ada Brandt' --place 'Kansas City, MO' --email ada@example.org", "bin/civic unlisted add --phone '816 555 0100' --delete"],
      needs: 'database',
      writes: true,
      run: (call) => runAdd(context, call),
    },
    {
      name: 'unlisted list',
      summary: 'List the register of people who asked not to be listed, without names',
      examples: ['bin/civic unlisted list', 'bin/civic unlisted list --json'],
      needs: 'database',
      run: (call) => runList(context, call),
    },
    {
      name: 'unlisted check',
      summary: 'Check whether the register has a person, and which public entries match',
      options: PERSON,
      examples: ["bin/civic unlisted check --name 'Ada Brandt' --place 'Kansas City, MO'"],
      needs: 'database',
      run: (call) => runCheck(context, call),
    },
    {
      name: 'unlisted remove',
      summary: 'Remove an entry, so that the person can be listed again',
      arguments: '<id>',
      examples: ['bin/civic unlisted remove 0198c2f0-7d3a-7000-8000-000000000001'],
      needs: 'database',
      writes: true,
      existing: true,
      async run({ terminal, positionals }) {
        const [id] = positionals as [string];
        if (!await removeEntry(context, id, OPERATOR)) throw new Failure(`No entry has the id ${id}: bin/civic unlisted list shows them`);
        terminal.print({ id, removed: true }, () => `Removed the entry ${id}.`);
      },
    },
  ];
}

async function requestOf(context: Context, { options }: CommandCall): Promise<{ request: UnlistRequest; reference: string | null }> {
  const text = (name: string): string | null => (typeof options[name] === 'string' ? (options[name] as string).trim() || null : null);
  const fields: Fields = { name: text('name'), place: text('place'), email: text('email'), phone: text('phone'), url: text('url'), reference: text('reference') };
  const read = await readRequest(context, fields);
  if ('fault' in read) throw new Failure((await context.civic.texts('en'))(`unlisted.faults.${read.fault}`));
  return { request: read.request, reference: fields.reference };
}

async function runAdd(context: Context, call: CommandCall): Promise<void> {
  const { request, reference } = await requestOf(context, call);
  const { id, isNew, kinds, listed } = await addEntry(context, request, reference, OPERATOR);
  const deleted = call.options.delete === true ? await deleteListed(context, id, listed.map((one) => one.id), OPERATOR) : 0;
  const t = await context.civic.texts('en');
  call.terminal.print({ id, created: isNew, kinds, listed, deleted }, () => [
    isNew ? `Added the entry ${id} (${kindsText(kinds, t)}).` : `The register has this person already: entry ${id}.`,
    ...matchLines(listed, deleted, call.options.delete === true),
  ].join('\n'));
}

function matchLines(listed: ListedPerson[], deleted: number, isDeleting: boolean): string[] {
  if (listed.length === 0) return ['No public entry matches.'];
  const lines = listed.map(({ id, name, places }) => `  ${id}  ${name}${places[0] ? `, ${places[0].name}` : ''}`);
  const counted = `${listed.length} public ${listed.length === 1 ? 'entry matches' : 'entries match'}`;
  if (isDeleting) return [`${counted}; deleted ${deleted}:`, ...lines];
  return [`${counted}. To delete ${listed.length === 1 ? 'it' : 'them'}, run the same command with --delete:`, ...lines];
}

async function runList(context: Context, { terminal }: CommandCall): Promise<void> {
  const entries: ShownEntry[] = [];
  for (let after: number | null = null, isMore = true; isMore;) {
    const page = await listEntries(context, AT_ONCE, after);
    entries.push(...page.entries);
    after = page.next;
    isMore = page.next !== null;
  }
  const t = await context.civic.texts('en');
  terminal.print(entries, () => entries.map(({ id, created_at, kinds, place_key, reference }) => [id, created_at.slice(0, 10), kindsText(kinds, t), place_key, reference].filter(Boolean).join('  ')).join('\n') || 'The register is empty.');
}

async function runCheck(context: Context, call: CommandCall): Promise<void> {
  const { request } = await requestOf(context, call);
  const reader = context.civic.db.read;
  const [entries, listed] = [await context.register.entriesOf(reader, request), await context.register.listed(reader, request)];
  call.terminal.print({ entries, listed }, () => [
    entries.length === 0 ? 'The register does not have this person.' : `The register has this person: ${entries.join(', ')}.`,
    listed.length === 0 ? 'No public entry matches.' : `Public entries that match: ${listed.map(({ id, name }) => `${name} (${id})`).join(', ')}.`,
  ].join('\n'));
}

const kindsText = (kinds: ShownEntry['kinds'], t: Texts): string => kinds.map((kind) => t(`unlisted.kinds.${kind}`)).join(', ');
