import type { Reader, Tx } from 'civic';
import type { ActorDetail, ActorDraft, Applied, Editor } from '../types.ts';

/** The one way into the ledger. Whoever writes takes its `tx` along, so that several changes share one transaction. */
export interface Ledger {
  /**
   * Enters drafts as one set: a new record for each, or further claims for the record that its id or origin names.
   * The same draft twice changes nothing. A draft that breaks a rule fails the whole set: check them first.
   */
  apply(tx: Tx, drafts: ActorDraft[], editor: Editor): Promise<Applied[]>;
  /** What is wrong with a draft, in words, or null: values, places and issue areas that do not exist, claims without a source. */
  faults(reader: Reader, drafts: ActorDraft[]): Promise<(DraftFault[] | null)[]>;
  /** Actors in the order of their keys, whole, for exports: public ones, and with a workspace also its own. */
  walk(reader: Reader, options: { after: number; limit: number; workspace_id: string | null }): Promise<{ key: number; actor: ActorDetail }[]>;
}

export interface DraftFault {
  /** A JSON pointer into the draft. */
  pointer: string;
  detail: string;
}
