import type { Content } from '../fetch/types.ts';
import type { ReaderService } from '../types.ts';

const MOST_KNOWN = 10_000;

/** Returns a function that returns whether a page has no text without its scripts. The function parses each content once: most pages do not change between two reads. */
export function createShellCheck(document: ReaderService['document']): (url: string, content: Content) => Promise<boolean> {
  const known = new Map<string, boolean>();
  return async (url, { hash, content_type, body }) => {
    const before = known.get(hash);
    if (before !== undefined) return before;
    const page = await document({ url, content_type, body }).catch(() => null);
    // A busy machine may have no time for a page now, and have it later.
    if (page === null) return false;
    const isShell = page.is_script_page && !page.login_wall;
    known.set(hash, isShell);
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!);
    return isShell;
  };
}
