import { Joi, quoteText, type Tool } from 'civic';
import { contextIn, writing, type Workspaces } from '../context.ts';
import { watchFields, watchShown } from './schemas.ts';
import type { WatchTarget } from './types.ts';
import type { Watches } from './watches.ts';

interface Given {
  target: WatchTarget;
  delivery: string;
}

/** Lets assistants watch things on behalf of a user. */
export function watchTools({ civic, accounts }: Workspaces, watches: Watches): Tool[] {
  return [{
    name: 'watch',
    title: 'Watch for news',
    description: 'Watches an actor, a place, an issue area, a coverage target or all signals of a query for the workspace. New signals that match come to the user as a digest a day or at once. Get ids from search_entities, keys of places from search_places and slugs from resolve_issue_areas.',
    readOnly: false,
    destructive: false,
    scope: writing.access.scope[0]!,
    input: Joi.object(watchFields(watches.firehose.queryableTypes())),
    output: watchShown,
    advice: {
      unknown_actor: 'Use the full id as search_entities returned it.',
      unknown_place: 'Call search_places with the name, and use the place_key.',
      unknown_issue_area: 'Call resolve_issue_areas, and use a slug.',
    },
    async run(given: Given, { caller }) {
      const { watch: data, isNew } = await civic.db.write(async (tx) => watches.ensure(tx, await contextIn(accounts, tx, caller!, caller!.workspace_id!), given));
      return { data, text: `${isNew ? 'The workspace now watches' : 'The user watches this already:'} ${quoteText(data.target.name ?? data.target.type)} (${data.delivery}). Watch id: ${data.id}.` };
    },
  }];
}
