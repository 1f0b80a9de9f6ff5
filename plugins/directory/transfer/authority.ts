import { Failure, type Civic, type Reader } from 'civic';
import type { ImportRow } from './store.ts';

/** Ends an import whose account may no longer do what the import does. */
export class AuthorityLost extends Failure {}

export interface Authority {
  /** Throws AuthorityLost unless the account of an upload may still import as it could when it sent the file. */
  check(reader: Reader, row: ImportRow): Promise<void>;
  /** Whether an account belongs to a workspace now. */
  isMember(accountId: string, workspaceId: string): Promise<boolean>;
}

/** Asks the accounts plugin. Where accounts are off, whoever identifies callers has no state to ask for. */
export function createAuthority(civic: Pick<Civic, 'serviceIfOn'> & { readonly db: Civic['db'] }): Authority {
  const accounts = () => civic.serviceIfOn('accounts');
  return {
    async check(reader, { account_id, workspace_id, may_change_public }) {
      const service = accounts();
      // The command line imports for the operator.
      if (!service || account_id === null) return;
      const account = await service.account(reader, account_id);
      if (!account || account.disabled_at !== null) throw new AuthorityLost('The account that sent the file is disabled');
      if (may_change_public && account.role === 'user') throw new AuthorityLost('The account that sent the file is no longer a reviewer');
      if (workspace_id !== null && !await service.membership(reader, account_id, workspace_id)) throw new AuthorityLost('The account that sent the file no longer belongs to the workspace of the import');
    },
    async isMember(accountId, workspaceId) {
      return Boolean(await accounts()?.membership(civic.db.read, accountId, workspaceId));
    },
  };
}
