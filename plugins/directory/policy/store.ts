import type { HiddenField } from './fields.ts';

/** Returns a condition on claims, to append to others: false for hidden ones. `directory_claims` and `directory_records` are joined. */
export function shownSql(hidden: HiddenField[]): string {
  if (hidden.length === 0) return '';
  // Types and properties are constants of the code, so they need no parameters.
  const properties = [...new Set(hidden.map(({ property }) => `'${property}'`))].join(', ');
  const fields = hidden.map(({ type, property }) => `(shown.type = '${type}' and directory_claims.property = '${property}')`).join(' or ');
  return `and not (directory_claims.property in (${properties})
    and exists (select 1 from directory_actors as shown where shown.key = directory_records.actor_key and shown.visibility = 'public' and (${fields})))`;
}
