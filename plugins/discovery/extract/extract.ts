import type { Document } from 'civic/reader';
import type { Candidate } from './candidates.ts';
import { causesIn } from './causes.ts';
import { foundOn, organizationClaims, personClaims, type Found, type ScoredCandidate } from './details.ts';
import { eventsIn } from './events.ts';
import { identityOf } from './identity.ts';
import { linesOf, MOST_TEXT, type Line } from './lines.ts';
import { bareName, mergeActors } from './merge.ts';
import { organizationCandidates } from './organizations.ts';
import { personCandidates } from './people.ts';
import { tokensOf, type Token } from './spans.ts';
import { pairsOf, scoreOf, type Weights } from './score.ts';
import { structuredActors } from './structured.ts';
import { foldName, indexText, type TextIndex } from './text.ts';
import type { FoundActor } from './types.ts';
import { ORGANIZATION_WEIGHTS, PERSON_WEIGHTS } from './weights.ts';

/** At least seven of ten names with this score are right (`civic eval extraction`); less is for reviewers who look for more. */
export const DEFAULT_SCORE = 0.5;
const LEAST_SCORE = 0.2;
const MOST_ACTORS = 200;

/** Finds the actors that a document names: in structured data, by the layout of the page, and in its sentences. Best ones first. */
export function extractActors(document: Document): FoundActor[] {
  const { index, lines, tokens, candidates } = candidatesOf(document);
  const structured = structuredActors(document, index);
  const causes = causesIn(lines, tokens);
  const people = scored(candidates.person, PERSON_WEIGHTS);
  const organizations = scored(candidates.organization, ORGANIZATION_WEIGHTS);
  removeOtherTypes(people, organizations, structured, causes);
  removeVariants(organizations);
  const found = foundOn(document, lines, best(people), best(organizations));
  return mergeActors([...structured, ...causes, ...eventsIn(document, lines), ...actorsOf(found)]).toSorted((one, other) => other.score - one.score || one.claims[0]!.start - other.claims[0]!.start).slice(0, MOST_ACTORS);
}

/** Returns what may be a name, with the parts of the document that it was found in. `eval/fit.ts` fits the weights on it. */
export function candidatesOf(document: Document): { index: TextIndex; lines: Line[]; tokens: Token[][]; candidates: Record<'person' | 'organization', [string, Candidate][]> } {
  const index = indexText(document.text.slice(0, MOST_TEXT));
  const lines = linesOf(document);
  const tokens = lines.map(tokensOf);
  const organizations = organizationCandidates(lines, tokens, identityOf(document, lines, index), index);
  return { index, lines, tokens, candidates: { person: personCandidates(lines, tokens, index).entries(), organization: organizations.entries() } };
}

function scored(candidates: [string, Candidate][], weights: Weights): Map<string, ScoredCandidate> {
  const pairs = pairsOf(weights);
  const found = new Map<string, ScoredCandidate>();
  for (const [key, candidate] of candidates) {
    const score = Math.round(scoreOf(candidate, weights, pairs) * 100) / 100;
    if (score >= LEAST_SCORE) found.set(key, { ...candidate, score });
  }
  return found;
}

type Scored = ReturnType<typeof scored>;

function best(candidates: Scored): ScoredCandidate[] {
  return [...candidates.values()].toSorted((one, other) => other.score - one.score || one.start - other.start).slice(0, MOST_ACTORS);
}

/** A name is of one type: that of structured data, of a cause, or the one with the higher score. */
function removeOtherTypes(people: Scored, organizations: Scored, structured: FoundActor[], causes: FoundActor[]): void {
  for (const { type, name } of [...structured, ...causes]) {
    if (type !== 'person') people.delete(foldName(name));
    if (type !== 'organization') organizations.delete(foldName(name));
  }
  for (const [key, { score }] of people) {
    const other = organizations.get(key);
    if (other) (other.score > score ? people : organizations).delete(key);
  }
}

/** `Example` beside `Example, Inc.` is another name of the same organization when it is certain, else a part of the longer name. */
function removeVariants(organizations: Scored): void {
  const best = new Map<string, number>();
  for (const { name, score } of organizations.values()) best.set(bareName(name), Math.max(score, best.get(bareName(name)) ?? 0));
  for (const [key, { name, score }] of organizations) if (score < DEFAULT_SCORE && best.get(bareName(name))! >= DEFAULT_SCORE) organizations.delete(key);
}

function actorsOf(found: Found): FoundActor[] {
  return [
    ...found.organizations.map((candidate): FoundActor => ({ type: 'organization', name: candidate.name, score: candidate.score, method: 'rules', claims: organizationClaims(candidate, found) })),
    ...found.people.map((candidate): FoundActor => ({ type: 'person', name: candidate.name, score: candidate.score, method: 'rules', claims: personClaims(candidate, found) })),
  ];
}
