import type { Check, Database } from 'civic';
import type { RegisterKey } from './key.ts';
import { countEntries } from './store.ts';

/** Reports entries of the register whose key is lost, and which therefore match no person. */
export function unlistedCheck(db: () => Database, key: RegisterKey): Check {
  return {
    name: 'unlisted',
    quick: true,
    async run() {
      const total = await countEntries(db().read);
      const lost = total === 0 ? 0 : await countEntries(db().read, key.id() ?? '');
      if (lost === 0) return { status: 'ok', detail: `the register of people who are not listed has ${total.toLocaleString('en-US')} ${total === 1 ? 'entry' : 'entries'}` };
      return {
        status: 'failed',
        detail: `${lost.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} entries of the register of people who are not listed match no person: ${key.id() === null ? `there is no key in ${key.location}` : `the key in ${key.location} is another one`}`,
        fix: 'copy unlisted.key from the data folder in which the entries were created, or set plugins.directory.unlisted_key; several nodes need the same key',
      };
    },
  };
}
