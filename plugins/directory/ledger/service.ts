import type { Reader, Rebuild, Tx } from 'civic';
import type { WalkOptions } from '../actors/walk.ts';
import type { ActorDetail, ActorDraft, Applied, ClaimDraft, ClaimStatus, Editor, FlagCounts, Rank, SourceDraft } from '../types.ts';
import type { ClaimRow, JudgementRow, RecordRow, SourceRow } from './rows.ts';

/** The one way into the ledger. Whoever writes takes its `tx` along, so that several changes share one transaction. */
export interface Ledger {
  /** Reads drafts strictly: values in their normal form, places and issue areas that exist, a source for every claim. */
  check(reader: Reader, drafts: unknown[]): Promise<Checked[]>;
  /** Returns which drafts are about people who asked not to be listed; `apply` throws `unlisted_person` for them. */
  areUnlisted(reader: Reader, drafts: Pick<ActorDraft, 'type' | 'claims' | 'sources'>[]): Promise<boolean[]>;
  /**
   * Enters checked drafts as one set: a new record for each, or further claims for the record that its id or origin names.
   * The same draft twice changes nothing; a deleted record stays deleted. With `joins`, what is new and surely the same as
   * an actor that is there becomes one with it, by a judgement that can be taken back.
   */
  apply(tx: Tx, drafts: ActorDraft[], editor: Editor, options?: { joins?: boolean }): Promise<Applied[]>;
  /** Changes one actor. Throws `field_policy` for claims that may not be public, and `unlisted_person`. */
  patch(tx: Tx, id: string, change: Patch, editor: Editor): Promise<void>;
  /** Makes an actor public. Throws `unlisted_person`. */
  publish(tx: Tx, id: string, editor: Editor): Promise<void>;
  /** Leaves a tombstone: its id is never given again. */
  remove(tx: Tx, id: string, editor: Editor, reason: string | null): Promise<void>;
  /** Judges two records; `same` makes them one actor, whose id is that of the older. Answers the id of the actor. */
  judge(tx: Tx, judgement: NewJudgement, editor: Editor): Promise<string>;
  /** Takes a judgement back: what it had joined comes apart, with nothing lost. Answers the ids of the actors. */
  unjudge(tx: Tx, judgementId: string, editor: Editor): Promise<string[]>;
  /** Takes records away for good, as if they had never been, at most so many: for the demo. Answers how many. */
  erase(tx: Tx, originPrefix: string, limit: number): Promise<number>;
  /** Actors in the order of their keys, whole, for exports: public ones, and with a workspace also its own; or those of certain keys. */
  walk(reader: Reader, options: WalkOptions): Promise<{ key: number; actor: ActorDetail }[]>;
  /** Stores how many flags actors and sources have, by id. An id that is no longer there is left out. */
  setFlags(tx: Tx, flagged: Flagged): Promise<void>;
  /** States that a source was checked now, and still has these claims. */
  confirm(tx: Tx, source: SourceRow, seen: { claim: ClaimRow; record: RecordRow; entity_id: string }[], editor: Editor): Promise<void>;
  /** Hides the e-mail and phone claims of a public person until a time, and the same contacts of other public people. Returns null when there is nothing to hide, or the actor has a hold already. */
  holdContacts(tx: Tx, actorId: string, until: string): Promise<BegunHold | null>;
  /** Shows the claims of a hold again, except those that were changed since. Returns whether the hold had not ended yet. */
  endHold(tx: Tx, holdId: string): Promise<boolean>;
  /** Makes a hold that a node of an older version began hide the contacts of other people, too. */
  completeHold(tx: Tx, holdId: string): Promise<void>;
  /** Stores whether the address of a source works, and what is known of its content. `by` is the kind of editor, or `check` for a program. */
  setUrlStatus(tx: Tx, sourceId: string, status: UrlStatus & Partial<SourceContent>, by: Editor['kind'] | 'check'): Promise<void>;
  /** Works actors out again, as time has passed. */
  refresh(tx: Tx, actorKeys: number[]): Promise<void>;
  /** Derives the actors again whose places were added to or removed from the gazetteer. Returns how many. */
  relist(): Promise<number>;
  /** Rebuilds the read model: rows of other versions, or all of them. */
  rebuild(run: Pick<Rebuild, 'write' | 'progress'>, which: 'outdated' | 'all'): Promise<void>;
}

export interface BegunHold {
  id: string;
  /** The ids of other entries whose contacts the hold hides. */
  others: string[];
}

/** Whether the address of a source works, and when that was last checked. */
export type UrlStatus = Pick<SourceRow, 'url_status' | 'last_checked_at'>;

/** The hash of a source's content, and whether the archive has that content. */
export type SourceContent = Pick<SourceRow, 'content_hash' | 'archived'>;

export interface Flagged {
  actors: ReadonlyMap<string, FlagCounts>;
  sources: ReadonlyMap<string, FlagCounts>;
}

/** `hidden` names the claims that the field policy does not allow in public; the draft is without them. */
export type Checked = { draft: ActorDraft; hidden: DraftFault[] } | { faults: DraftFault[] };

export interface DraftFault {
  /** A JSON pointer into the draft. */
  pointer: string;
  detail: string;
}

export interface Patch {
  sources: SourceDraft[];
  add: ClaimDraft[];
  retract: string[];
  rank: { claim_id: string; rank: Rank }[];
  /** Claims that no page and no response shows any more, such as the address of a private person, and not the history either. All claims of the actor with the same value are hidden too. */
  hide?: string[];
  /** Hidden claims that get their former status back, to undo that. */
  unhide?: { claim_id: string; status: ClaimStatus }[];
  /** Retracted claims that become active again, to undo a change. */
  restore?: string[];
}

export interface NewJudgement {
  left_id: string;
  right_id: string;
  verdict: JudgementRow['verdict'];
  reason: string | null;
  score: number | null;
  /** Of one that was made elsewhere and is taken over: who is one actor changes, and nothing else. */
  made?: Pick<JudgementRow, 'id' | 'at' | 'by_kind'>;
}
