import type { Civic, Reader, Tx } from 'civic';
import { record, type AuditEntry } from './audit/store.ts';
import type { AccountsConfig } from './config.ts';
import { createPeople, type People } from './people/people.ts';
import { personById } from './people/store.ts';
import { createPlans, type Plan, type Plans } from './plans/plans.ts';
import type { Account, Workspace } from './types.ts';
import { membershipsOf, type MembershipRow } from './workspaces/store.ts';

/** What other plugins may ask about accounts. */
export interface AccountsService {
  plans(): Plan[];
  /** The plan of that name; one the operator took away is the default plan. */
  planOf(name: string): Plan;
  account(reader: Reader, id: string): Promise<Account | null>;
  /** The workspaces an account belongs to, its personal one first. */
  workspacesOf(reader: Reader, accountId: string): Promise<Workspace[]>;
  membership(reader: Reader, accountId: string, workspaceId: string): Promise<Workspace | null>;
  /** Puts a security event on record, in the transaction that makes it true. */
  record(tx: Tx, entry: AuditEntry): Promise<void>;
}

declare module 'civic' {
  interface Services { accounts: AccountsService }
}

/** All that the plugin's parts share. */
export interface Accounts {
  civic: Civic<AccountsConfig>;
  plans: Plans;
  people: People;
  record(tx: Tx, entry: AuditEntry): Promise<void>;
  service: AccountsService;
}

export function createAccounts(civic: Civic<AccountsConfig>): Accounts {
  const plans = createPlans(civic.config.plans, civic.config.default_plan);
  const people = createPeople({ civic, plans });
  const put = (tx: Tx, entry: AuditEntry) => record(tx, civic.clock.iso(), entry);
  const workspacesOf = async (reader: Reader, accountId: string): Promise<Workspace[]> => {
    const person = await personById(reader, accountId);
    return person ? (await membershipsOf(reader, person.key)).map(toldWorkspace) : [];
  };
  return {
    civic, plans, people, record: put,
    service: {
      plans: () => plans.all,
      planOf: plans.planOf,
      async account(reader, id) {
        const person = await personById(reader, id);
        return person && people.told(person);
      },
      workspacesOf,
      membership: async (reader, accountId, workspaceId) => (await workspacesOf(reader, accountId)).find(({ id }) => id === workspaceId.toLowerCase()) ?? null,
      record: put,
    },
  };
}

export function toldWorkspace({ id, name, personal_of, role, created_at }: MembershipRow): Workspace {
  return { id, name, personal: personal_of !== null, role, created_at };
}
