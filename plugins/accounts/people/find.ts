import { Failure, isId, Misuse, type CommandCall, type Reader } from 'civic';
import { foldEmail } from './people.ts';
import { personByEmail, personById, type PersonRow } from './store.ts';

/** The options with which commands name an account. */
export const WHO = [
  { name: 'account', value: 'id or e-mail', summary: 'The account' },
  { name: 'email', value: 'address', summary: 'The account, by its e-mail address only' },
];

/** Returns the account that the options of a command name. */
export async function personByOptions(reader: Reader, options: CommandCall['options']): Promise<PersonRow> {
  const named = (options.account ?? options.email) as string | undefined;
  if (named === undefined) throw new Misuse('name the account with --account <id or e-mail>');
  const person = isId(named) ? await personById(reader, named) : await personByEmail(reader, foldEmail(named));
  if (!person) throw new Failure(`There is no account "${named}". bin/civic account list shows all.`);
  return person;
}
