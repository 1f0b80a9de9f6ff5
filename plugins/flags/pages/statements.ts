import type { Texts } from 'civic';
import type { ActorDetail, Claim, ClaimValues, DirectoryService } from 'civic/directory';

/** A statement that a form offers: the id of its claim and one line of text. */
export interface Choice {
  id: string;
  text: string;
}

/** Returns the statements of an actor, each value once. */
export function statementsOf({ claims, places }: Pick<ActorDetail, 'claims' | 'places'>, directory: DirectoryService, t: Texts): Choice[] {
  const names = placeNames({ places });
  const choices = new Map<string, Choice>();
  for (const claim of claims) {
    const text = `${t(`properties.${claim.property}`)}: ${valueText(claim, directory, names, t)}`;
    if (!choices.has(text)) choices.set(text, { id: claim.id, text });
  }
  return [...choices.values()];
}

/** Returns the names of the places of an actor by their keys. */
export function placeNames({ places }: Pick<ActorDetail, 'places'>): ReadonlyMap<string, string> {
  return new Map(places.map(({ place_key, name }) => [place_key, name]));
}

/** Returns the value of a claim as one line of text, in the language of `t` where the value is a name of the directory. */
export function valueText({ property, value }: Pick<Claim, 'property' | 'value'>, directory: DirectoryService, placeNames: ReadonlyMap<string, string>, t: Texts): string {
  if (property === 'place') return placeNames.get(value as string) ?? String(value);
  if (property === 'issue_area') return t.declared('directory', `issue_areas.${String(value)}.name`, directory.issueName(value as string) ?? String(value));
  if (property === 'type' || property === 'status') return t(`values.${String(value)}`);
  if (property === 'social') return (value as ClaimValues['social']).url;
  if (property === 'identifier') return Object.values(value as ClaimValues['identifier']).join(' ');
  if (property === 'affiliation') return [(value as ClaimValues['affiliation']).name, (value as ClaimValues['affiliation']).role].filter(Boolean).join(', ');
  return String(value);
}
