/** The values of claims, in the forms of the directory. */
export interface FoundValues {
  name: string;
  description: string;
  website: string;
  email: string;
  phone: string;
  social: { network: string; url: string };
  identifier: { scheme: string; value: string };
  affiliation: { entity_id: string | null; name: string; role: string | null; since: string | null; until: string | null };
  event_start: string;
  event_end: string;
  event_location: string;
}

/** A statement that a page makes about an actor. `start` and `end` are a range of `document.text`. */
export type FoundClaim = { [Property in keyof FoundValues]: { property: Property; value: FoundValues[Property]; start: number; end: number } }[keyof FoundValues];

export type FoundType = 'person' | 'organization' | 'initiative' | 'campaign' | 'event';

export interface FoundActor {
  type: FoundType;
  name: string;
  /** From 0 to 1: how certain it is that the page names this actor. */
  score: number;
  /** What the name was found by: structured data, rules, or a language model. */
  method: 'structured' | 'rules' | 'model';
  /** At least one of them is a name. */
  claims: FoundClaim[];
}
