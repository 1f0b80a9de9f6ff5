import type { ServerRoute } from '@hapi/hapi';
import type { Workspaces } from './context.ts';
import type { Notes } from './notes/notes.ts';
import { recordRoutes } from './records/routes.ts';
import { transferRoutes } from './records/transfer-routes.ts';
import type { Reviews } from './reviews/reviews.ts';
import type { Targets } from './targets/targets.ts';
import { noteTransfer, reviewTransfer, targetTransfer } from './transfers.ts';

/** Returns the routes of notes, coverage targets and reviews. */
export function itemRoutes(workspaces: Workspaces, { notes, targets, reviews }: { notes: Notes; targets: Targets; reviews: Reviews }): ServerRoute[] {
  return [
    ...transferRoutes(workspaces, notes, noteTransfer),
    ...transferRoutes(workspaces, targets, targetTransfer),
    ...transferRoutes(workspaces, reviews, reviewTransfer),
    ...recordRoutes(workspaces, notes, {
      list: 'The notes of a workspace, the latest first',
      create: 'Write a note about an actor, a place or a source, or about nothing in particular',
      read: 'One note',
      update: 'Change a note',
      remove: 'Delete a note',
      notes: 'A note is plain text. It stays when its actor is merged or deleted later; `target.state` is then `merged` or `deleted`.',
    }),
    ...recordRoutes(workspaces, targets, {
      list: 'The coverage targets of a workspace, the latest first',
      create: 'Set how many public entries issue areas of a place should have',
      read: 'One coverage target, with how many entries there are',
      update: 'Change a coverage target',
      remove: 'Delete a coverage target',
      notes: '`state` and `progress` are computed from the public entries of the directory when the target is read.',
    }),
    ...recordRoutes(workspaces, reviews, {
      list: 'The reviews of a workspace, the latest first',
      create: 'Record what the workspace decided about an actor',
      read: 'One review',
      update: 'Change the status or the note of a review',
      remove: 'Delete a review',
      notes: 'For members with the role reviewer or above. A workspace has at most one review of an actor; it is private and changes nothing in the directory.',
    }),
  ];
}
