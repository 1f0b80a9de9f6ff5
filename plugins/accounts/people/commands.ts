import { Failure, Misuse, type Command, type CommandCall, type Tx } from 'civic';
import { momentOf } from '../dates.ts';
import { createAccountLink } from '../signin/links.ts';
import type { Accounts } from '../service.ts';
import { INSTANCE_ROLES, OPERATOR, type Account, type InstanceRole } from '../types.ts';
import { personByOptions, WHO } from './find.ts';
import { claimEmail } from './email.ts';
import { foldEmail } from './people.ts';
import { allPeople, personByEmail, personById, type PersonRow } from './store.ts';

type Options = CommandCall['options'];

const EMAIL = /^[^\s@]+@[^\s@]+$/;

export function accountCommands(accounts: Accounts): Command[] {
  return [createCommand(accounts), listCommand(accounts), setPlanCommand(accounts), setRoleCommand(accounts), linkCommand(accounts), confirmEmailCommand(accounts), disableCommand(accounts)];
}

function createCommand({ civic, people, plans, record }: Accounts): Command {
  return {
    name: 'account create',
    summary: 'Create an account and print a link that signs it in; the first one becomes administrator',
    options: [
      { name: 'email', value: 'address', summary: 'The e-mail address of the account; optional' },
      { name: 'name', value: 'text', summary: 'The name of the account (default: the e-mail address)' },
      { name: 'plan', value: 'name', summary: 'A plan of this instance, listed at /api/plans (default: the plan for accounts that the operator creates)' },
      { name: 'role', value: 'role', summary: `One of ${INSTANCE_ROLES.join(', ')} (default: user; the first account is admin)` },
    ],
    examples: ['bin/civic account create --email ada@example.org --name "Ada Example"', 'bin/civic account create --name Importer --plan team --json'],
    needs: 'database',
    writes: true,
    async run({ terminal, options }) {
      const { email, name } = nameOptions(options);
      const plan = planOption({ plans }, options.plan) ?? plans.operatorPlan;
      const role = roleOption(options.role);
      const taken = new Failure(`${email} has an account already. bin/civic account sign-in-link --email ${email} creates a new link for it.`);
      const { person, link } = await claimEmail(civic.db, async (tx) => {
        if (email !== null && await personByEmail(tx, foldEmail(email))) throw taken;
        const made = await people.create(tx, { name, email, plan, role });
        return { person: made, link: await createAccountLink({ civic, record }, tx, made, OPERATOR) };
      }).catch((error: unknown) => { throw isEmailTaken(error) ? taken : administratorFailure(error, 'Create it without --role or with --role admin, then create the others.'); });
      const account = people.accountOf(person);
      terminal.print({ ...account, sign_in_link: link.url, link_expires_at: link.expires_at }, () => [
        `Created the account ${account.id}: ${described(account, civic.clock.now())}.`,
        `Sign in once, until ${link.expires_at}: ${link.url}`,
      ].join('\n'));
    },
  };
}

function listCommand({ civic, people }: Accounts): Command {
  return {
    name: 'account list',
    summary: 'List all accounts with their roles and plans',
    examples: ['bin/civic account list', 'bin/civic account list --json'],
    needs: 'database',
    async run({ terminal }) {
      const all = (await allPeople(civic.db.read)).map(people.accountOf);
      terminal.print(all, () => (all.length === 0 ? 'There is no account yet: bin/civic account create creates one.' : all.map((account) => `${account.id}  ${described(account, civic.clock.now())}`).join('\n')));
    },
  };
}

function setPlanCommand(accounts: Accounts): Command {
  const { plans } = accounts;
  return changing(accounts, {
    name: 'account set-plan',
    summary: 'Set the plan of an account; the term of a plan with an end starts again',
    options: [
      { name: 'plan', value: 'name', summary: 'A plan of this instance, listed at /api/plans', required: true },
      { name: 'until', value: 'date', summary: 'When the plan ends (default: after the days of the plan, if it has any)' },
    ],
    example: 'bin/civic account set-plan --email ada@example.org --plan research_pass',
    change: (tx, person, options) => accounts.people.setPlan(tx, person, planOption({ plans }, options.plan)!, futureOption('until', options.until, accounts.civic.clock.now())),
  });
}

function setRoleCommand(accounts: Accounts): Command {
  return changing(accounts, {
    name: 'account set-role',
    summary: 'Set the role of an account on this instance',
    options: [{ name: 'role', value: 'role', summary: `One of ${INSTANCE_ROLES.join(', ')}`, required: true }],
    example: 'bin/civic account set-role --email ada@example.org --role reviewer',
    change: (tx, person, options) => accounts.people.setRole(tx, person, roleOption(options.role)!),
  });
}

function disableCommand(accounts: Accounts): Command {
  return changing(accounts, {
    name: 'account disable',
    summary: 'Disable an account: its keys and sessions stop working at once',
    options: [{ name: 'undo', summary: 'Enable the account again' }],
    example: 'bin/civic account disable --email ada@example.org',
    change: (tx, person, options) => accounts.people.setDisabled(tx, person, options.undo !== true),
  });
}

function linkCommand({ civic, record }: Accounts): Command {
  return {
    name: 'account sign-in-link',
    summary: 'Print a link that signs an account in, once',
    options: WHO,
    examples: ['bin/civic account sign-in-link --email ada@example.org'],
    needs: 'database',
    writes: true,
    existing: true,
    async run({ terminal, options }) {
      const { person, link } = await civic.db.write(async (tx) => {
        const found = await personByOptions(tx, options);
        if (found.disabled_at !== null) throw new Failure(`The account ${found.id} is disabled. bin/civic account disable --undo --account ${found.id} enables it again.`);
        return { person: found, link: await createAccountLink({ civic, record }, tx, found, OPERATOR) };
      });
      terminal.print({ account_id: person.id, sign_in_link: link.url, link_expires_at: link.expires_at }, () => `Signs ${person.name} in once, until ${link.expires_at}: ${link.url}`);
    },
  };
}

function confirmEmailCommand({ civic, people, emails }: Accounts): Command {
  return {
    name: 'account confirm-email',
    summary: 'Confirm the requested e-mail address of an account; first verify that it belongs to them',
    options: WHO,
    examples: ['bin/civic account confirm-email --account ada@example.org'],
    needs: 'database',
    writes: true,
    existing: true,
    async run({ terminal, options }) {
      const person = await personByOptions(civic.db.read, options);
      const pending = await emails.pendingOf(person);
      if (!pending) throw new Failure(`The account ${person.id} has requested no other address. Users request one at /account.`);
      await claimEmail(civic.db, (tx) => emails.confirm(tx, person, pending, OPERATOR)).catch((error: unknown) => { throw isEmailTaken(error) ? new Failure(`Another account has ${pending.email}. bin/civic account list shows which.`) : error; });
      const account = people.accountOf((await personById(civic.db.read, person.id))!);
      terminal.print(account, () => `${account.id}  ${described(account, civic.clock.now())}`);
    },
  };
}

function isEmailTaken(error: unknown): boolean {
  return codeOf(error) === 'email_taken';
}

function codeOf(error: unknown): string | undefined {
  return (error as { data?: { code?: string } }).data?.code;
}

/** Returns a failure with advice for `last_administrator`, and any other error unchanged. */
function administratorFailure(error: unknown, advice: string): unknown {
  return codeOf(error) === 'last_administrator' ? new Failure(`${(error as Error).message}\n${advice}`) : error;
}

interface Change {
  name: string;
  summary: string;
  options: NonNullable<Command['options']>;
  example: string;
  change(tx: Tx, person: PersonRow, options: Options): Promise<void>;
}

/** Returns a command that changes one account and prints the result. */
function changing({ civic, people }: Accounts, { name, summary, options: own, example, change }: Change): Command {
  return {
    name,
    summary,
    options: [...WHO, ...own],
    examples: [example],
    needs: 'database',
    writes: true,
    existing: true,
    async run({ terminal, options }) {
      const account = await civic.db.write(async (tx) => {
        const person = await personByOptions(tx, options);
        await change(tx, person, options);
        return people.accountOf((await personById(tx, person.id))!);
      }).catch((error: unknown) => { throw administratorFailure(error, 'Give another account the role admin first: bin/civic account set-role --account <id or e-mail> --role admin'); });
      terminal.print(account, () => `${account.id}  ${described(account, civic.clock.now())}`);
    },
  };
}

function described({ name, email, role, plan, plan_until, disabled_at }: Account, now: number): string {
  const until = plan_until === null ? '' : Date.parse(plan_until) > now ? ` until ${plan_until}` : ` since another ended ${plan_until}`;
  return `${name}${email === null || email === name ? '' : ` <${email}>`}, ${role}, plan ${plan}${until}${disabled_at === null ? '' : ', disabled'}`;
}

function nameOptions({ email, name }: Options): { email: string | null; name: string } {
  if (email !== undefined && !EMAIL.test(email as string)) throw new Misuse(`--email must be an address, but is "${String(email)}"`);
  const called = (name as string | undefined)?.trim() || (email as string | undefined);
  if (!called) throw new Misuse('name the account with --email, --name or both');
  if (called.length > 200) throw new Misuse('--name is longer than 200 characters');
  return { email: (email as string | undefined) ?? null, name: called };
}

function planOption({ plans }: Pick<Accounts, 'plans'>, plan: unknown): string | undefined {
  if (plan !== undefined && !plans.has(plan as string)) throw new Misuse(`"${String(plan)}" is no plan: there are ${plans.all.map(({ name }) => name).join(', ')}`);
  return plan as string | undefined;
}

function roleOption(role: unknown): InstanceRole | undefined {
  if (role !== undefined && !INSTANCE_ROLES.includes(role as InstanceRole)) throw new Misuse(`"${String(role)}" is no role: there are ${INSTANCE_ROLES.join(', ')}`);
  return role as InstanceRole | undefined;
}

/** Parses an option that must be a date in the future. */
export function futureOption(name: string, value: unknown, now: number): string | undefined {
  if (value === undefined) return undefined;
  const moment = momentOf(value as string);
  if (moment === null) throw new Misuse(`--${name} must be a date such as 2027-01-31, but is "${String(value)}"`);
  if (Date.parse(moment) <= now) throw new Misuse(`--${name} must be in the future`);
  return moment;
}
