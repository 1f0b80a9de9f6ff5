import type { Database, Rebuild } from 'civic';
import { deleteTerms, documentRanksAfter, orphanedRanks, termsAfter, unusedTerms } from './sweep-store.ts';
import { removeDocuments } from './store.ts';

const DOCUMENTS_AT_ONCE = 2000;
const TERMS_AT_ONCE = 500;

/** Removes documents that no actor has. */
export async function removeOrphanedDocuments({ read }: Database, write: Rebuild['write']): Promise<void> {
  for (let after = -1, ranks; (ranks = await documentRanksAfter(read, after, DOCUMENTS_AT_ONCE)).length > 0; after = ranks.at(-1)!) {
    const orphaned = await orphanedRanks(read, ranks);
    if (orphaned.length > 0) await write(async (tx) => removeDocuments(tx, await orphanedRanks(tx, orphaned)));
  }
}

/** Removes words and tags from the vocabulary that no public document has. */
export async function removeUnusedTerms({ read }: Database, write: Rebuild['write']): Promise<void> {
  for (let after = '', terms; (terms = await termsAfter(read, after, TERMS_AT_ONCE)).length > 0; after = terms.at(-1)!) {
    const unused = await unusedTerms(read, terms);
    if (unused.length > 0) await write((tx) => deleteTerms(tx, unused));
  }
}
