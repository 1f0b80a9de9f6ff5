import { Joi, quoteText, type Tool } from 'civic';
import type { Flagged, Flags } from './flags.ts';
import { createdFlagSchema, entityFlagFields, sourceFlagFields } from './schemas.ts';

const READ_ID = 'Use the full id as a tool returned it.';

/** Lets assistants report problems on behalf of a user. */
export function flagTools(flags: Flags): Tool[] {
  const common = { readOnly: false, destructive: false, scope: 'flags:write', output: createdFlagSchema } as const;
  return [
    {
      ...common,
      name: 'flag_entity',
      title: 'Report a problem with an actor',
      description: 'Reports that data of an actor is outdated, incorrect, a duplicate or private. Reviewers check the report; nothing changes until then, except that a report of the type privacy can hide the e-mail and phone of a person at once. Get ids from search_entities, and claim ids from get_entity.',
      input: Joi.object(entityFlagFields),
      advice: { unknown_actor: READ_ID, unknown_claim: 'Leave claim_id out, or take it from get_entity.' },
      run: async (given: Parameters<Flags['flagEntity']>[0], { caller }) => resultOf(await flags.flagEntity(given, caller)),
    },
    {
      ...common,
      name: 'flag_source',
      title: 'Report a problem with a source',
      description: 'Reports that the link of a source is broken, or that the source is outdated, misattributed, behind a paywall or quoted wrongly. Reviewers check the report. Get ids from get_entity_sources.',
      input: Joi.object(sourceFlagFields),
      advice: { unknown_source: READ_ID },
      run: async (given: Parameters<Flags['flagSource']>[0], { caller }) => resultOf(await flags.flagSource(given, caller)),
    },
  ];
}

function resultOf({ flag, isNew }: Flagged) {
  const text = isNew ? 'The report was stored; reviewers will check it.' : 'You had reported this already, and the report is still open.';
  return { data: flag, text: `${text} Receipt: ${quoteText(flag.receipt)}.` };
}
