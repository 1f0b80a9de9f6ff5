import { recordById } from '../records/store.ts';
import type { TargetRow, Targets } from '../targets/targets.ts';
import type { CoverageScopes, Watches } from './watches.ts';

/** Reads the scopes of coverage targets. */
export function createScopes(): CoverageScopes {
  return {
    async scopeOf(reader, workspaceId, id) {
      const row = await recordById<TargetRow>(reader, 'workspaces_targets', workspaceId, id);
      if (!row) return null;
      const issues = JSON.parse(row.issue_areas) as string[];
      return { places: [row.place_key], issues, name: [row.place_key, ...issues].join(', ') };
    },
  };
}

/** Returns coverage targets whose changes reach the watches on them. */
export function followTargets(targets: Targets, watches: () => Watches | null): Targets {
  return {
    ...targets,
    async update(tx, context, row, given) {
      const shown = await targets.update(tx, context, row, given);
      await watches()?.scopeChanged(tx, context.workspace.id, row.id);
      return shown;
    },
    async remove(tx, context, row) {
      await targets.remove(tx, context, row);
      await watches()?.scopeChanged(tx, context.workspace.id, row.id);
    },
  };
}
