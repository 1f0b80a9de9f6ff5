import type { ProblemKinds } from 'civic';

export const directoryProblems = {
  unknown_actor: { status: 404, title: 'No such actor', advice: 'Give the whole UUID. If the problem has merged_into, the actor goes on under that id.' },
  unknown_source: { status: 404, title: 'No such source', advice: 'Give the whole UUID, as lists of sources have it.' },
  unknown_claim: { status: 400, title: 'The actor has no such claim', advice: 'Take the claim ids from /api/entities/{id}/claims.' },
  claim_needed: { status: 409, title: 'The actor cannot do without this claim', advice: 'Add another claim for the same property in the same request.' },
  unknown_judgement: { status: 404, title: 'No such judgement', advice: 'It may have been taken back already.' },
  nothing_changed: { status: 409, title: 'The edit changes nothing', advice: 'Read the actor or the source again: it may have been changed already.' },
  same_actor: { status: 409, title: 'Both ids are one actor', advice: 'Name two different actors.' },
  merge_conflict: { status: 409, title: 'These two cannot be merged', advice: 'The detail says why; if they were judged to be different, take that judgement back first.' },
  not_merged: { status: 409, title: 'Nothing was merged into this actor', advice: 'Only an actor that others were merged into can be split.' },
  already_public: { status: 409, title: 'The actor is public already', advice: 'There is nothing to publish.' },
  field_policy: { status: 400, title: 'The field policy keeps this private', advice: 'Leave the claim out, or cite an official source where the policy allows it. Actors of a workspace may have it.' },
  unlisted_person: { status: 409, title: 'This person asked not to be listed', advice: 'Do not enter the person. Operators find the register in the console.' },
} satisfies ProblemKinds;
