import { Failure, isId, Misuse, type CommandCall, type Reader } from 'civic';
import { foldEmail } from './people.ts';
import { personByEmail, personById, type PersonRow } from './store.ts';

/** How commands name an account. */
export const WHO = [
  { name: 'account', value: 'id or e-mail', summary: 'Whose account' },
  { name: 'email', value: 'address', summary: 'The same, by its e-mail address' },
];

/** The account a command is about. */
export async function personMeant(reader: Reader, options: CommandCall['options']): Promise<PersonRow> {
  const named = (options.account ?? options.email) as string | undefined;
  if (named === undefined) throw new Misuse('say whose account with --account <id or e-mail>');
  const person = isId(named) ? await personById(reader, named) : await personByEmail(reader, foldEmail(named));
  if (!person) throw new Failure(`There is no account "${named}". bin/civic account list shows all.`);
  return person;
}
