import type { DirectoryService } from 'civic/directory';
import type { EntityReference } from '../references.ts';

/** A reference to an entry, as pages show it. */
export interface ShownEntry extends EntityReference {
  id: string;
  /** The path of its page; of its successor when it was merged. Null when there is none. */
  href: string | null;
  isMerged: boolean;
  isDeleted: boolean;
  isUnavailable: boolean;
  isPrivate: boolean;
}

export function shownEntry({ links }: Pick<DirectoryService, 'links'>, id: string, entity: EntityReference): ShownEntry {
  const target = entity.merged_into ?? (entity.state === 'current' && entity.visibility === 'public' ? id : null);
  return {
    ...entity, id, href: target === null ? null : links.pages.actor?.(target) ?? null,
    isMerged: entity.state === 'merged', isDeleted: entity.state === 'deleted', isUnavailable: entity.state === 'unavailable', isPrivate: entity.visibility === 'workspace',
  };
}
