import { newId, problem, type CheckResult, type Civic, type Reader, type Tx } from 'civic';
import type { AuditEntry } from '../audit/store.ts';
import type { AccountsConfig } from '../config.ts';
import type { AccessChanged } from '../events.ts';
import type { Plans } from '../plans/plans.ts';
import { endLinks } from '../signin/links-store.ts';
import { endSessions } from '../signin/sessions-store.ts';
import { OPERATOR, type Account, type Doer, type InstanceRole } from '../types.ts';
import { deleteInvitationsBy } from '../workspaces/invitations-store.ts';
import { createWorkspace } from '../workspaces/workspaces.ts';
import { deleteEmailChange } from './email-store.ts';
import { changePerson, hasAdministrator, hasPeople, insertPerson, lockAdministrators, type PersonRow } from './store.ts';

export interface PeopleContext {
  civic: Pick<Civic<AccountsConfig>, 'clock' | 'config'>;
  plans: Plans;
  record(tx: Tx, entry: AuditEntry): Promise<void>;
  accessChanged(tx: Tx, change: AccessChanged): Promise<void>;
}

export interface NewAccount {
  name: string;
  email?: string | null;
  /** Left out: admin for the first account of an instance, which can have no other role; else user. */
  role?: InstanceRole;
  /** Without it: the operator's plan for the first account, else the default plan. */
  plan?: string;
}

export interface People {
  /** Creates an account and its personal workspace. */
  create(tx: Tx, account: NewAccount, by?: Doer): Promise<PersonRow>;
  /** Sets the plan. Without `until` its end follows from the `days` of the plan. */
  setPlan(tx: Tx, person: PersonRow, plan: string, until?: string | null, by?: Doer): Promise<void>;
  setRole(tx: Tx, person: PersonRow, role: InstanceRole, by?: Doer): Promise<void>;
  setDisabled(tx: Tx, person: PersonRow, disabled: boolean, by?: Doer): Promise<void>;
  accountOf(person: PersonRow): Account;
}

export function createPeople({ civic, plans, record, accessChanged }: PeopleContext): People {
  const { clock, config } = civic;

  /** When a plan given now ends. */
  function endOf(plan: string): string | null {
    const { days } = plans.planOf(plan);
    return days === null ? null : new Date(clock.now() + days * 86_400_000).toISOString();
  }

  return {
    async create(tx, { name, email = null, role, plan }, by = OPERATOR) {
      const isFirst = !(await hasPeople(tx));
      if (isFirst && role !== undefined && role !== 'admin') throw problem('last_administrator', { detail: `The first account becomes the administrator and cannot have the role ${role}.` });
      const given = plan ?? (isFirst ? plans.operatorPlan : config.default_plan);
      const person: Omit<PersonRow, 'key'> = {
        id: newId(clock.now()), name, email, email_folded: email === null ? null : foldEmail(email), role: role ?? (isFirst ? 'admin' : 'user'),
        plan: given, plan_until: endOf(given), created_at: clock.iso(), disabled_at: null,
      };
      const key = await insertPerson(tx, person);
      const made = { key, ...person };
      await record(tx, { kind: 'account_made', by, subject: person.id, detail: { role: person.role, plan: given } });
      await createWorkspace({ clock, config, record, accessChanged }, tx, { name: `${name} (personal)`, owner: made, isPersonal: true }, by);
      return made;
    },
    async setPlan(tx, person, plan, until, by = OPERATOR) {
      const plan_until = until === undefined ? endOf(plan) : until;
      await changePerson(tx, person.key, { plan, plan_until });
      await record(tx, { kind: 'plan_set', by, subject: person.id, detail: { from: person.plan, to: plan, until: plan_until } });
      await accessChanged(tx, { account_id: person.id, what: 'plan' });
    },
    async setRole(tx, person, role, by = OPERATOR) {
      if (role !== 'admin') await keepAdministrator(tx, person);
      await changePerson(tx, person.key, { role });
      await record(tx, { kind: 'role_set', by, subject: person.id, detail: { from: person.role, to: role } });
      await accessChanged(tx, { account_id: person.id, what: 'role' });
    },
    async setDisabled(tx, person, disabled, by = OPERATOR) {
      if (disabled) await keepAdministrator(tx, person);
      await changePerson(tx, person.key, { disabled_at: disabled ? clock.iso() : null });
      if (disabled) await closeDoors(tx, person.key, clock.iso());
      await record(tx, { kind: disabled ? 'account_disabled' : 'account_enabled', by, subject: person.id });
      await accessChanged(tx, { account_id: person.id, what: 'disabled' });
    },
    accountOf({ id, name, email, role, plan, plan_until, created_at, disabled_at }) {
      const current = plans.current({ plan, plan_until }, clock.now());
      return { id, name, email, role, plan: current.name, plan_until, created_at, disabled_at };
    },
  };
}

/** Rejects a change that would leave the instance without an enabled administrator. */
async function keepAdministrator(tx: Tx, { key, name }: PersonRow): Promise<void> {
  const administrators = await lockAdministrators(tx);
  if (administrators.length === 1 && administrators[0] === Number(key)) throw problem('last_administrator', { detail: `${name} is the only enabled administrator.` });
}

/** Reports an instance that has accounts and no enabled administrator. */
export async function checkAdministrator(reader: Reader): Promise<CheckResult> {
  if (await hasAdministrator(reader)) return { status: 'ok', detail: 'an enabled account is administrator' };
  if (!(await hasPeople(reader))) return { status: 'ok', detail: 'the first account becomes administrator' };
  return { status: 'warning', detail: 'no enabled account has the role admin', fix: 'bin/civic account list shows all accounts; bin/civic account set-role --account <id or e-mail> --role admin makes one administrator, bin/civic account disable --undo enables one' };
}

/**
 * Ends every way into an account but its keys, which are named and can be revoked one by one. An attacker may hold these,
 * so enabling the account again does not restore them.
 */
async function closeDoors(tx: Tx, accountKey: number, at: string): Promise<void> {
  await endSessions(tx, accountKey, at);
  await endLinks(tx, accountKey, at);
  await deleteEmailChange(tx, accountKey);
  await deleteInvitationsBy(tx, accountKey);
}

/** Addresses are compared without regard to case, as people write them. */
export function foldEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}
