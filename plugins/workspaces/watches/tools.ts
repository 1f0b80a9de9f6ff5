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
      watch_exists: 'The user watches this already: tell them so.',
    },
    async run(given: Given, { caller }) {
      const data = await civic.db.write(async (tx) => watches.create(tx, await contextIn(accounts, tx, caller!, caller!.workspace_id!), given));
      return { data, text: `The workspace now watches ${quoteText(data.target.name ?? data.target.type)} (${data.delivery}). Watch id: ${data.id}.` };
    },
  }];
}
