import type { Section } from 'civic/workspaces';
import type { Ingest } from '../context.ts';
import { countSources } from '../sources/store.ts';
import { SECTION } from './area.ts';

/** Returns the section of a workspace, whose card states how many sources it has and how many fail. */
export function sourceSection({ civic }: Ingest): Section {
  return {
    plugin: 'ingest', path: SECTION, label: 'sources.title',
    summary: async (reader, { workspace, request }) => (await civic.texts(request.civic.language))('sources.in_workspace', await countSources(reader, workspace.id)),
  };
}
