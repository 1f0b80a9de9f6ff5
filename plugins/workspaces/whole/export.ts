import type { Briefs } from '../briefs/briefs.ts';
import { importable } from '../briefs/export.ts';
import type { OpenContext, Workspace, Workspaces } from '../context.ts';
import type { Lists } from '../lists/lists.ts';
import { listExport } from '../lists/transfer.ts';
import type { Notes } from '../notes/notes.ts';
import { EXPORT_NAME, EXPORT_VERSION, exportText, pagesOf, type ExportHead, type Transfer } from '../records/export.ts';
import type { Records } from '../records/records.ts';
import type { RecordRow } from '../records/store.ts';
import type { Reviews } from '../reviews/reviews.ts';
import type { Targets } from '../targets/targets.ts';
import { noteTransfer, reviewTransfer, targetTransfer } from '../transfers.ts';
import type { Watches } from '../watches/watches.ts';

/** All kinds of records of a workspace. */
export interface Everything {
  lists: Lists;
  notes: Notes;
  targets: Targets;
  reviews: Reviews;
  briefs: Briefs;
  /** Null without the Firehose. */
  watches: Watches | null;
}

const IMPORT = 'Each part is imported on its own, below /api/workspaces/{id}: POST each of `lists` to /lists/import, `notes` to /notes/import, `coverage_targets` to /coverage-targets/import, '
  + '`reviews` to /reviews/import, each of `briefs` to /briefs, and each of `watches` to /watches. Import coverage targets first. Records are created again, with new ids, times and authors.';
const NOT_IMPORTED = [
  'watches on coverage targets: they name the id of the earlier target',
  'records about entries, sources and places that another instance does not have, or that were deleted; briefs are without them',
  'what watches found, settings of mails, addresses of private feeds',
  'usage: it is a proof of this workspace, with an export of its own',
  'members, invitations, keys and the audit record',
];

/** Returns the records of a workspace as one JSON text, in pieces. Its parts have the form that the imports of their kinds accept. */
export async function* wholeExport(workspaces: Workspaces, { lists, notes, targets, reviews, briefs, watches }: Everything, { id, name }: Workspace, open: OpenContext): AsyncIterable<string> {
  const head = { workspace: { id, name }, exported_at: workspaces.civic.clock.iso() };
  yield JSON.stringify({ format: EXPORT_NAME, version: EXPORT_VERSION, kind: 'workspace', ...head, import: IMPORT, not_imported: NOT_IMPORTED }).slice(0, -1);
  yield ',"lists":[';
  let separator = '';
  // One list at a time: one that is deleted before its turn is left out.
  for await (const [list] of pagesOf(workspaces, lists, open, 1)) {
    if (!list) break;
    for await (const piece of listExport(workspaces, lists, open, list.id, 'json')) {
      yield `${separator}${piece}`;
      separator = '';
    }
    separator = ',';
  }
  yield ']';
  const part = <Row extends RecordRow, Shown extends object>(records: Records<Row, Shown>, transfer: Transfer<Shown>) => exportText({ kind: records.kind.name, ...head } as ExportHead, transfer, 'json', pagesOf(workspaces, records, open));
  yield ',"notes":';
  yield* part(notes, noteTransfer);
  yield ',"coverage_targets":';
  yield* part(targets, targetTransfer);
  yield ',"reviews":';
  yield* part(reviews, reviewTransfer);
  yield ',"briefs":';
  yield* arrayOf(pagesOf(workspaces, briefs, open), (brief) => importable(brief).brief);
  yield ',"watches":';
  yield* watches ? arrayOf(pagesOf(workspaces, watches, open)) : ['[]'];
  yield '}\n';
}

async function* arrayOf<Shown>(pages: AsyncIterable<Shown[]>, written: (shown: Shown) => unknown = (shown) => shown): AsyncIterable<string> {
  yield '[';
  let isFirst = true;
  for await (const page of pages) for (const shown of page) {
    yield `${isFirst ? '' : ','}\n${JSON.stringify(written(shown))}`;
    isFirst = false;
  }
  yield '\n]';
}
