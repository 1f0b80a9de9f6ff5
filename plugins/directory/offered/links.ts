import { isId, type Reader, type Tx } from 'civic';
import type { SourceRow } from '../ledger/rows.ts';
import type { SourceContent, UrlStatus } from '../ledger/service.ts';
import { sourcesAfter, sourcesById } from '../ledger/store.ts';
import type { Directory } from '../service.ts';

/** What a plugin that checks the addresses of sources needs. The sources of workspaces are among them: the plugin must publish nothing about these. */
export interface LinkWrites {
  /** Returns sources in the order in which they were entered, after the position of one; 0 is the beginning. */
  linksAfter(reader: Reader, position: number, limit: number): Promise<LinkedSource[]>;
  /** Returns sources by id; those that are no longer there are left out. */
  linksById(reader: Reader, ids: string[]): Promise<LinkedSource[]>;
  /** Stores the result of a check, which API, pages and exports show once the transaction is committed. Ignores an id that is no longer there. */
  setLinkHealth(tx: Tx, id: string, health: LinkHealth): Promise<void>;
}

export interface LinkedSource extends Pick<SourceRow, 'id' | 'url' | 'title' | 'publication' | 'workspace_id' | 'retrieved_at' | 'url_status' | 'last_checked_at' | 'content_hash'> {
  position: number;
}

/** Without a content, what is stored of it stays. */
export type LinkHealth = UrlStatus & Partial<SourceContent>;

export function offeredLinks({ ledger }: Directory): LinkWrites {
  return {
    linksAfter: async (reader, position, limit) => (await sourcesAfter(reader, position, limit)).map(linkedSource),
    linksById: async (reader, ids) => (await sourcesById(reader, ids.filter(isId))).map(linkedSource),
    async setLinkHealth(tx, id, health) {
      const [known] = await sourcesById(tx, [id]);
      if (known) await ledger.setUrlStatus(tx, known.id, health, 'check');
    },
  };
}

function linkedSource({ key, id, url, title, publication, workspace_id, retrieved_at, url_status, last_checked_at, content_hash }: SourceRow): LinkedSource {
  return { position: Number(key), id, url, title, publication, workspace_id, retrieved_at, url_status, last_checked_at, content_hash };
}
