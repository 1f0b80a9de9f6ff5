import { cutText } from 'civic';
import type { KnownActor, KnownSource } from 'civic/directory';
import type { ActorType } from '../types.ts';

/** The texts of signals about the directory. */

const KINDS: Record<ActorType, string> = { person: 'A person', organization: 'An organization', initiative: 'An initiative', campaign: 'A campaign', event: 'An event' };
const MOST_NAMED = 3;
const MOST_IN_TITLE = 200;

export interface Words {
  title: string;
  summary: string;
}

export function addedWords(actor: KnownActor, issueName: (slug: string) => string): Words {
  const where = actor.places.length > 0 ? ` in ${listed(actor.places.map(({ name, state }) => (state ? `${name}, ${state}` : name)), '; ')}` : '';
  const what = actor.issue_areas.length > 0 ? `, about ${listed(actor.issue_areas.map(issueName))}` : '';
  return { title: `${short(actor.name)} was added`, summary: `${KINDS[actor.type]}${where}${what}. Known from ${counted(actor.sources.length, 'source')}.` };
}

export function mergedWords(actor: KnownActor, formerName: string): Words {
  const title = formerName === actor.name ? `Two entries of ${short(actor.name)} were merged` : `${short(formerName)} was merged into ${short(actor.name)}`;
  return { title, summary: `They were found to be the same; what was known of both is kept together, from ${counted(actor.sources.length, 'source')}.` };
}

export function sourceWords(actor: KnownActor, fresh: KnownSource[]): Words {
  const title = fresh.length === 1 ? `A new source for ${short(actor.name)}` : `${fresh.length} new sources for ${short(actor.name)}`;
  return { title, summary: `${listed(fresh.map(({ title: name, publication, url }) => `${name ? `“${short(name)}”` : short(url)}${publication ? ` (${short(publication)})` : ''}`), '; ')}.` };
}

export function freshnessWords(actor: KnownActor, after: 'fresh' | 'aging' | 'stale'): Words {
  const name = short(actor.name);
  if (after === 'fresh') return { title: `${name} was looked at again`, summary: `What the directory knows of ${name} is fresh again.` };
  if (after === 'aging') return { title: `What is known of ${name} is getting old`, summary: `Some of it has not been seen in any source for a while: look before relying on it.` };
  return { title: `What is known of ${name} is out of date`, summary: `Nothing of it has been seen in any source for so long that it may no longer be true.` };
}

export function gapWords(issue: string, place: string, before: number, after: number): Words {
  const title = after === 0 ? `Nobody works on ${issue} in ${place} any more` : `Only ${after === 1 ? 'one actor works' : 'two actors work'} on ${issue} in ${place} now`;
  return { title, summary: `The directory knew of ${counted(before, 'actor')} there and knows of ${after === 0 ? 'none' : after}. An issue area counts as covered from three on.` };
}

/** As it reads within a sentence: "Housing Affordability" loses its capitals, "K-12" and "AI" do not. */
export function withinSentence(name: string): string {
  return name.split(' ').map((word) => (/^[A-Z][a-z]+(-[A-Z][a-z]+)*$/.test(word) ? word.toLowerCase() : word)).join(' ');
}

function short(text: string): string {
  return cutText(text, MOST_IN_TITLE);
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function listed(items: string[], joint = ', '): string {
  const more = items.length - MOST_NAMED;
  return more > 0 ? `${items.slice(0, MOST_NAMED).join(joint)} and ${more} more` : items.join(joint);
}
