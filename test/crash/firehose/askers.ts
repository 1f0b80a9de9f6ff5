import type { Visibility } from '../../../plugins/firehose/types.ts';

/** Somebody who reads, and what the specification lets them see. */
export interface Asker {
  name: string;
  /** Null for nobody in particular. */
  key: string | null;
  /** Of the key. */
  keyId: string | null;
  accountId: string | null;
  workspaceId: string | null;
  /** Sees what is held back in the workspace. */
  reviewsThere: boolean;
  /** What they may ask for. */
  visibilities: Visibility[];
}
