import { fitData, Joi, quoteText, type Tool } from 'civic';
import { contextIn, writing, type Workspaces } from '../context.ts';
import type { Briefs } from './briefs.ts';
import { briefFields, briefShown } from './schemas.ts';

/** Lets assistants write briefs on behalf of a user. */
export function briefTools({ civic, accounts }: Workspaces, briefs: Briefs): Tool[] {
  return [{
    name: 'create_brief',
    title: 'Create a brief',
    description: 'Saves a research brief in the workspace: a title, its scope, findings in Markdown, and the ids of the actors and sources that it rests on. The result has the confidence and the gaps of the brief. Get ids from search_entities and get_entity_sources, keys of places from search_places and slugs from resolve_issue_areas.',
    readOnly: false,
    destructive: false,
    scope: writing.access.scope[0]!,
    input: Joi.object(briefFields),
    output: briefShown,
    advice: {
      unknown_actor: 'Use the full id as search_entities returned it.',
      unknown_source: 'Use the full id as get_entity_sources returned it.',
    },
    async run(given: object, { caller, maxBytes }) {
      const data = await civic.db.write(async (tx) => briefs.create(tx, await contextIn(accounts, tx, caller!, caller!.workspace_id!), given));
      return { data: fitData(data, maxBytes), text: `Saved the brief ${quoteText(data.title)}. Confidence: ${data.confidence}. Gaps: ${data.gaps.length}. Brief id: ${data.id}. Page: ${civic.url(`/workspaces/${caller!.workspace_id}/briefs/${data.id}`)}` };
    },
  }];
}
