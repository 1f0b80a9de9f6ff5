import { problem, type Tx } from 'civic';
import type { DirectoryService } from 'civic/directory';

/** Returns the columns of a scope. Throws `invalid_request` that names each place and issue area that does not exist. */
export async function checkedScope(directory: DirectoryService, tx: Tx, { places, issue_areas }: { places: string[]; issue_areas: string[] }): Promise<{ places: string; issue_areas: string }> {
  const keys = await Promise.all(places.map((text) => directory.placeKey(tx, text)));
  const errors = [
    ...keys.flatMap((key, index) => (key === null ? [{ pointer: `/scope/places/${index}`, detail: 'is not the key of a place' }] : [])),
    ...issue_areas.flatMap((slug, index) => (directory.issueName(slug) === null ? [{ pointer: `/scope/issue_areas/${index}`, detail: 'is not the slug of an issue area' }] : [])),
  ];
  if (errors.length > 0) throw problem('invalid_request', { detail: `${errors[0]!.pointer} ${errors[0]!.detail}.`, errors });
  return { places: JSON.stringify([...new Set(keys)]), issue_areas: JSON.stringify(issue_areas) };
}

/** Returns the column of a list of ids. Checks those that are new: those that the brief had may have been deleted or merged since. */
export async function checkedNew(given: string[], before: string | undefined, check: (ids: string[]) => Promise<string[]>): Promise<string> {
  const known = before === undefined ? [] : JSON.parse(before) as string[];
  await check(given.filter((id) => !known.includes(id.toLowerCase())));
  return JSON.stringify([...new Set(given.map((id) => id.toLowerCase()))]);
}
