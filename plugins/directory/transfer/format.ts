import type { OwnPlace } from '../places/service.ts';
import type { ActorDetail, ActorDraft, ActorType } from '../types.ts';
import type { TextFile } from './file.ts';

/** A way to write actors into a file, to read them from one, or both. Formats translate; they never touch the database. */
export interface Format {
  name: string;
  /** One sentence for help and documentation. */
  summary: string;
  /** The media type of a file in this format. */
  type: string;
  /** What its files usually end in. */
  extension: string;
  /** It carries judgements itself: what it keeps apart is apart. */
  isOwn?: boolean;
  /** The source of every claim when neither the file nor whoever imports it names one. */
  source?: DatasetSource;
  reads?(file: TextFile, context: ReadContext): AsyncIterable<Row>;
  /** The types of actors that it can write; all when left out. */
  holds?: readonly ActorType[];
  /** Lines, each without its end. */
  writes?(context: WriteContext): AsyncIterable<string>;
}

export interface DatasetSource {
  url: string;
  title?: string;
  publication?: string;
}

export interface ReadContext {
  /** Where the file comes from: stands behind what brings no source of its own. */
  source: DatasetSource | null;
  /** The time zone of times that have none, as `America/Chicago`. */
  timezone: string | null;
  now: string;
  /** The key of the place a text means; null when that is not certain. */
  resolvePlace(text: string): Promise<string | null>;
  /** The name of a state of the US by its abbreviation. */
  stateName(abbreviation: string): string | null;
  /** The issue areas a text is surely about. */
  issueAreas(text: string): string[];
  hasIssueArea(slug: string): boolean;
}

/** What a reader makes of a part of a file. `number` counts from 1: the line of line formats, the item of others. */
export type Row = { number: number; raw: unknown } & (
  | { draft: ActorDraft; notes: string[] }
  | { judgement: JudgementLine }
  | { place: PlaceLine }
  | { fault: string }
);

/** Who is one and the same, and who is not: one line of the kit's own formats. */
export interface JudgementLine {
  id: string;
  left_id: string;
  right_id: string;
  verdict: 'same' | 'different' | 'unsure';
  reason: string | null;
  score: number | null;
  by_kind: string;
  at: string;
}

/** A place that somebody added to the gazetteer: one line of the kit's own formats. */
export type PlaceLine = OwnPlace & { origin: string };

/** An actor with what its wire form leaves out: which record said what. */
export interface ExportedActor {
  actor: ActorDetail;
  /** Records that were merged into it. */
  merged: MergedRecord[];
  /** Keys of the same thing in other systems, by record id. */
  origins: { record_id: string; origin: string }[];
}

export interface MergedRecord {
  id: string;
  created_at: string;
  updated_at: string;
  claim_ids: string[];
}

export interface WriteContext {
  /** Who exports, for the header. */
  instance: { name: string; version: string; url: string };
  /** Walks all actors that the format holds; may be called again for another section of the file. */
  actors(): AsyncIterable<ExportedActor>;
  judgements(): AsyncIterable<JudgementLine>;
  /** Places that the gazetteer has not from its own data. */
  places(): Promise<PlaceLine[]>;
}
