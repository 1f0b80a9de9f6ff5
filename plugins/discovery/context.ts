import { problem, type Caller, type Civic, type Reader, type Threads } from 'civic';
import type { AccountsService } from 'civic/accounts';
import type { DirectoryService } from 'civic/directory';
import type { Document, ReaderService } from 'civic/reader';
import type { Finding } from './candidates/propose.ts';
import type { DiscoveryConfig } from './config.ts';
import { createModel } from './extract/model.ts';
import type { FoundActor } from './extract/types.ts';
import { searchEngines, type SearchEngine } from './search/engines.ts';

/** The services that all parts of the plugin use. */
export interface Discovery {
  civic: Civic<DiscoveryConfig>;
  directory: DirectoryService;
  reader: ReaderService;
  accounts: AccountsService | null;
  /** Functions of other plugins that name pages to begin with. */
  addresses: FindAddresses[];
  /** Functions of other plugins that know the form of some pages. */
  understand: UnderstandPage[];
  /** The search engines of the operator. */
  engines: SearchEngine[];
  /** Finds the actors that a document names: in a thread by rules, then with the language model of the operator, if there is one. */
  extract(document: Document, signal: AbortSignal): Promise<FoundActor[]>;
}

/** A page that a run read. */
export interface ReadPage {
  document: Document;
  content_hash: string;
  retrieved_at: string;
  place: { key: string; name: string } | null;
}

/** Returns the actors of a page whose form a plugin knows, such as that of a platform; none for other pages. Each claim has its passage in the text of the document. */
export type UnderstandPage = (page: ReadPage) => Promise<Finding[]>;

/** Returns addresses of public pages about a place that a workspace may know of; those of other workspaces are not among them. */
export type FindAddresses = (reader: Reader, about: { place_key: string; workspace_id: string | null }) => Promise<string[]>;

export function createDiscovery(civic: Civic<DiscoveryConfig>, threads: Threads): Discovery {
  const model = civic.config.model.url === '' ? null : createModel(civic.fetch, civic.config.model);
  return {
    civic, directory: civic.service('directory'), reader: civic.service('reader'), accounts: civic.serviceIfOn('accounts'), addresses: [], understand: [], engines: searchEngines(civic),
    async extract(document, signal) {
      const found = await threads.run<FoundActor[]>('extractActors', document);
      if (!model) return found;
      try {
        return [...found, ...await model.actors(document, found, signal)];
      } catch (error) {
        signal.throwIfAborted();
        civic.log.warn({ err: error, url: document.url }, 'The language model could not be used: the page has what the rules found');
        return found;
      }
    },
  };
}

/** Whose runs are meant: those of a workspace, or the operator's. */
export interface Owner {
  workspace_id: string | null;
}

export type RunVisibility = 'workspace' | 'public';

/** Returns whose runs a caller works with. The operator's require the role of a reviewer. */
export function ownerOf(caller: Caller, visibility: RunVisibility): Owner {
  if (visibility === 'public') {
    if (caller.role === 'user') throw problem('permission_required', { detail: 'Runs of the operator are for reviewers and administrators of this instance.' });
    return { workspace_id: null };
  }
  if (caller.workspace_id === null) throw problem('workspace_forbidden', { detail: 'Choose a workspace: the credential works in none.' });
  return { workspace_id: caller.workspace_id };
}

/** Checks that a caller may decide about candidates: members read, reviewers of the workspace decide. */
export function checkMayDecide(caller: Caller, { workspace_id }: Owner): void {
  if (workspace_id !== null && (caller.workspace_role === 'member' || caller.workspace_role === null)) {
    throw problem('workspace_forbidden', { detail: 'Reviewers, administrators and owners of the workspace decide about candidates. You are a member.' });
  }
}
