import type { Request } from '@hapi/hapi';
import { addressGroup, clientAddressOf, type Caller } from 'civic';

/** Whose a stream, socket or wait is, and for how long. */
export interface Access {
  account_id: string | null;
  credential_id: string | null;
  /** Null for an anonymous client. */
  caller: Caller | null;
  /** The network an anonymous client comes from; null for an account. */
  address: string | null;
  /** Milliseconds; Infinity when it does not end by itself. */
  valid_until: number;
}

export function accessOf(caller: Caller | null, request: Request): Access {
  return {
    account_id: caller?.account_id ?? null, credential_id: caller?.credential_id ?? null, valid_until: caller?.valid_until ?? Infinity,
    caller, address: caller ? null : addressGroup(clientAddressOf(request)),
  };
}

export type EndReason = 'ended' | 'going_away' | 'revoked' | 'slow';

/** What is open and ends when its owner may no longer read. */
export interface Revocable {
  access: Access;
  end(reason: EndReason): void;
}

export interface Openings {
  add(one: Revocable): void;
  remove(one: Revocable): void;
  /** Ends all that an account has open: whoever still may comes back and goes on. */
  revokeAccount(accountId: string): void;
  [Symbol.iterator](): Iterator<Revocable>;
}

export function createOpenings(): Openings {
  const all = new Set<Revocable>();
  const byAccount = new Map<string, Set<Revocable>>();
  return {
    add(one) {
      all.add(one);
      const id = one.access.account_id;
      if (id === null) return;
      const own = byAccount.get(id);
      if (own) own.add(one);
      else byAccount.set(id, new Set([one]));
    },
    remove(one) {
      all.delete(one);
      const own = one.access.account_id === null ? undefined : byAccount.get(one.access.account_id);
      own?.delete(one);
      if (own?.size === 0) byAccount.delete(one.access.account_id!);
    },
    revokeAccount(accountId) { for (const one of byAccount.get(accountId) ?? []) one.end('revoked'); },
    [Symbol.iterator]: () => all[Symbol.iterator](),
  };
}
