import type { Texts } from 'civic';
import type { ActorDetail, Claim, ClaimValues, DirectoryService } from 'civic/directory';

/** A statement that a reporter can choose: its claim and one line of text. */
export interface Choice {
  id: string;
  text: string;
}

const MOST = 60;
/** Properties that the form does not list. */
const LEFT_OUT = ['type'];

/** Returns the statements of an actor, each value once. */
export function statementsOf(actor: ActorDetail, directory: DirectoryService, t: Texts): Choice[] {
  const placeNames = new Map(actor.places.map(({ place_key, name }) => [place_key, name]));
  const choices = new Map<string, Choice>();
  for (const claim of actor.claims) {
    if (LEFT_OUT.includes(claim.property)) continue;
    const text = `${t(`properties.${claim.property}`)}: ${valueText(claim, directory, placeNames)}`;
    if (!choices.has(text)) choices.set(text, { id: claim.id, text });
  }
  return [...choices.values()].slice(0, MOST);
}

/** Returns the value of a claim as one line of text. */
export function valueText({ property, value }: Pick<Claim, 'property' | 'value'>, directory: DirectoryService, placeNames: ReadonlyMap<string, string>): string {
  if (property === 'place') return placeNames.get(value as string) ?? String(value);
  if (property === 'issue_area') return directory.issueName(value as string) ?? String(value);
  if (property === 'social') return (value as ClaimValues['social']).url;
  if (property === 'identifier') return Object.values(value as ClaimValues['identifier']).join(' ');
  if (property === 'affiliation') return [(value as ClaimValues['affiliation']).name, (value as ClaimValues['affiliation']).role].filter(Boolean).join(', ');
  return String(value);
}
