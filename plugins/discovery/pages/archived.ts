import type { ResponseObject } from '@hapi/hapi';
import { isWebUrl, problem } from 'civic';
import { foundCandidate } from '../candidates/decide.ts';
import { shownCandidate } from '../candidates/shown.ts';
import type { Discovery } from '../context.ts';
import type { RunRow } from '../runs/store.ts';
import type { RunPage } from './area.ts';
import { markedPieces } from './passage.ts';
import { runOf } from './run.ts';

const MOST_TEXT = 200_000;

/** Whether the run archived a source. The hash that a local tool states is of its own copy: as a key of the archive it would show pages that other workspaces read. */
export function isArchived({ origin }: Pick<RunRow, 'origin'>, { content_hash }: { content_hash: string | null }): boolean {
  return origin !== 'sync' && content_hash !== null;
}

/** Shows the archived text of a source of a candidate, with the passages about the candidate marked. */
export async function showArchived(discovery: Discovery, page: RunPage): Promise<ResponseObject> {
  const { civic, reader, accounts } = discovery;
  const { request, t } = page;
  const run = await runOf(discovery, page);
  const { id, name, sources, claims } = shownCandidate(await foundCandidate(civic.db.read, run, String(request.params.candidate)));
  const source = sources.find(({ local_id }) => local_id === request.params.source);
  const content = source && isArchived(run, source) ? await reader.content(civic.db.read, source.content_hash!) : null;
  if (!source || !content) throw problem('not_found', { detail: 'The archive has no copy of this page.' });
  const { text, truncated } = await reader.document({ url: source.url, content_type: content.content_type, body: content.body });
  const passages = claims.flatMap(({ source_local_id, locator }) => (source_local_id === source.local_id && locator ? [locator] : []));
  const pieces = markedPieces(text.slice(0, MOST_TEXT), passages);
  const first = pieces.find(({ isMarked }) => isMarked);
  return page.show({ template: 'discovery/archived', title: source.title ?? source.url }, {
    run: { id: run.id }, candidate: { id, name }, url: isWebUrl(source.url) ? source.url : null, address: source.url, read: accounts!.pages.when(source.retrieved_at, t),
    pieces: pieces.map((piece) => ({ ...piece, isFirst: piece === first })), isCut: truncated || text.length > MOST_TEXT,
  });
}
