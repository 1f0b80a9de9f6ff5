import { isId, lazily, type Civic } from 'civic';
import type { Doer } from 'civic/accounts';
import type { Ledger } from '../ledger/service.ts';
import { isAmbiguous } from '../places/resolve.ts';
import type { Places } from '../places/service.ts';
import type { Editor } from '../types.ts';
import type { UnlistRequest } from './people.ts';
import type { ListedPerson, Register } from './register.ts';
import { countEntries, hashesOf, latestEntries, type EntryRow } from './store.ts';
import type { Trait } from './traits.ts';

const loadTraits = lazily(() => import('./traits.ts'));
const loadContact = lazily(() => import('../matching/contact.ts'));

export interface UnlistedContext {
  civic: Pick<Civic, 'clock' | 'serviceIfOn'> & { readonly db: Civic['db'] };
  ledger: Ledger;
  places: Places;
  register: Register;
}

/** What an operator enters; the place is free text. */
export type Fields = UnlistRequest & { reference: string | null };

/** Why a request cannot be used; texts of them are `unlisted.faults.<fault>`. */
export type Fault = 'nothing' | 'place_missing' | 'place_unknown' | 'name_short' | 'email' | 'phone' | 'url';

export interface Added {
  id: string;
  isNew: boolean;
  kinds: Trait['kind'][];
  /** Public people that the request is about. */
  listed: ListedPerson[];
}

export interface ShownEntry extends Omit<EntryRow, 'key' | 'key_id' | 'account_id'> {
  kinds: Trait['kind'][];
}

const REASON = 'The person asked not to be listed';

/** Checks what an operator entered, and finds its place. */
export async function readRequest({ civic, places }: UnlistedContext, { reference: _reference, ...given }: Fields): Promise<{ request: UnlistRequest } | { fault: Fault }> {
  const [{ nameForms }, { normalizeEmail, normalizePhone, normalizeWebsite }] = [await loadTraits(), await loadContact()];
  if ([given.name, given.email, given.phone, given.url].every((value) => value === null)) return { fault: 'nothing' };
  if (given.name !== null && nameForms(given.name).length === 0) return { fault: 'name_short' };
  if (given.name !== null && given.place === null) return { fault: 'place_missing' };
  if (given.email !== null && !normalizeEmail(given.email)) return { fault: 'email' };
  if (given.phone !== null && !normalizePhone(given.phone)) return { fault: 'phone' };
  if (given.url !== null && !normalizeWebsite(given.url)) return { fault: 'url' };
  if (given.place === null) return { request: given };
  const known = await places.byKey(civic.db.read, given.place);
  const found = known ? [] : await places.resolve(civic.db.read, given.place, { limit: 2 });
  const place = known ?? (isAmbiguous(found) ? undefined : found[0]?.place);
  return place ? { request: { ...given, place: place.place_key } } : { fault: 'place_unknown' };
}

export async function addEntry({ civic, register }: UnlistedContext, request: UnlistRequest, reference: string | null, by: Doer): Promise<Added> {
  const added = await civic.db.write(async (tx) => {
    const { entry, isNew, kinds } = await register.add(tx, request, { reference, account_id: by.account_id, now: civic.clock.iso() });
    if (isNew) await civic.serviceIfOn('accounts')?.record(tx, { kind: 'directory_unlisted_added', by, subject: entry.id, detail: { kinds: kinds.join(', ') } });
    return { id: entry.id, isNew, kinds };
  });
  return { ...added, listed: await register.listed(civic.db.read, request) };
}

/** Removes an entry. Returns whether there was one. */
export async function removeEntry({ civic, register }: UnlistedContext, id: string, by: Doer): Promise<boolean> {
  if (!isId(id)) return false;
  return civic.db.write(async (tx) => {
    const removed = await register.remove(tx, id.toLowerCase());
    if (removed) await civic.serviceIfOn('accounts')?.record(tx, { kind: 'directory_unlisted_removed', by, subject: removed.id });
    return removed !== null;
  });
}

/** Deletes those of the actors that an entry is about. Returns how many. */
export async function deleteListed({ civic, register, ledger }: UnlistedContext, entryId: string, actorIds: string[], by: Doer): Promise<number> {
  if (!isId(entryId)) return 0;
  const editor: Editor = { kind: 'reviewer', account_id: by.account_id, workspace_id: null };
  return civic.db.write(async (tx) => {
    const ids = await register.matching(tx, entryId.toLowerCase(), actorIds.filter(isId).map((id) => id.toLowerCase()));
    for (const id of ids) await ledger.remove(tx, id, editor, REASON);
    if (ids.length > 0) await civic.serviceIfOn('accounts')?.record(tx, { kind: 'directory_unlisted_deleted', by, subject: entryId.toLowerCase(), detail: { actors: ids } });
    return ids.length;
  });
}

/** Returns a page of entries, the latest first, and where the next one begins. */
export async function listEntries({ civic }: UnlistedContext, limit: number, after: number | null): Promise<{ entries: ShownEntry[]; total: number; next: number | null }> {
  const reader = civic.db.read;
  const rows = await latestEntries(reader, limit, after);
  const shown = rows.slice(0, limit);
  const hashes = await hashesOf(reader, shown.map(({ key }) => key));
  return {
    entries: shown.map(({ key, id, place_key, reference, created_at }) => ({ id, place_key, reference, created_at, kinds: [...new Set(hashes.filter(({ entry_key }) => Number(entry_key) === Number(key)).map(({ kind }) => kind))] })),
    total: await countEntries(reader),
    next: rows.length > limit ? Number(shown.at(-1)!.key) : null,
  };
}
