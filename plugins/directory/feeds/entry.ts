import { escapeMarkup, isWebUrl, writableText, type FeedEntry } from 'civic';
import { countryName } from '../places/abroad.ts';
import type { ListedMeeting } from './meetings.ts';
import type { ActorDetail, Claim, ClaimValues, Source } from '../types.ts';

/** What all feeds of one place or issue area have in common. Addresses are absolute. */
export interface ActorFeed {
  title: string;
  description: string;
  /** Stays when the address of the instance's API changes. */
  id: string;
  self: string;
  /** The same as a page or as JSON, for readers who follow it up. */
  home: string;
  /** Whose feed it is. */
  author: { name: string; url: string };
  actors: ActorDetail[];
  /** Of a calendar: those that are no entries of the directory. */
  meetings: ListedMeeting[];
  /** Returns the URL of the page about an actor. */
  pageOf(id: string): string;
}

/** A claim beside the source it stands on. */
export interface Statement {
  claim: Claim;
  source: Source;
}

/** What readers are told: a value, and everybody who says so. */
export interface Line {
  label: string;
  value: string;
  /** What weakens it; empty when nothing does. */
  doubt: string;
  said: Statement[];
}

const LABELS: Record<Claim['property'], string> = {
  name: 'Name', description: 'Description', type: 'Type', place: 'Place', issue_area: 'Issue area', website: 'Website', email: 'E-mail', phone: 'Telephone',
  social: 'Social media', identifier: 'Identifier', affiliation: 'Affiliation', status: 'Status', event_start: 'Begins', event_end: 'Ends', event_location: 'Location',
};

export function statementsOf({ claims, sources }: ActorDetail): Statement[] {
  const byId = new Map(sources.map((source) => [source.id, source]));
  return claims.flatMap((claim) => {
    const source = byId.get(claim.source_id);
    return source ? [{ claim, source }] : [];
  });
}

/** The same value from several sources is one line. */
export function linesOf(actor: ActorDetail): Line[] {
  const lines = new Map<string, Line>();
  for (const statement of statementsOf(actor)) {
    const { claim } = statement;
    const [label, value, doubt] = [LABELS[claim.property], valueInWords(claim), doubtOf(claim)];
    const key = [label, value, doubt].join('\n');
    const line = lines.get(key) ?? { label, value, doubt, said: [] };
    line.said.push(statement);
    lines.set(key, line);
  }
  return [...lines.values()];
}

/** Returns the value of a claim as one line of text. */
export function valueInWords({ property, value }: Claim): string {
  if (property === 'affiliation') {
    const { name, role, since, until } = value as ClaimValues['affiliation'];
    const years = since || until ? ` (${since ?? ''}–${until ?? ''})` : '';
    return `${role ? `${role}, ` : ''}${name}${years}`;
  }
  if (property === 'social') return `${(value as ClaimValues['social']).network}: ${(value as ClaimValues['social']).url}`;
  if (property === 'identifier') return `${(value as ClaimValues['identifier']).scheme} ${(value as ClaimValues['identifier']).value}`;
  return String(value);
}

function doubtOf({ rank, status }: Claim): string {
  return [rank === 'deprecated' && 'no longer right', status === 'disputed' && 'disputed', status === 'retracted' && 'retracted'].filter(Boolean).join(', ');
}

export function sourceName({ title, publication, url }: Source): string {
  return [title, publication].filter(Boolean).join(', ') || url;
}

/** Where it is, as one line. The code of no country, such as that of the demo, is left out. */
export function placesOf({ places }: ActorDetail): string {
  return places.map(({ name, state, country }) => {
    const region = state ?? countryName(country);
    return region === country ? name : `${name}, ${region}`;
  }).join('; ');
}

export function isDemo({ identifiers }: Pick<ActorDetail, 'identifiers'>): boolean {
  return identifiers.some(({ scheme }) => scheme === 'demo');
}

/** The name as a headline: what is made up says so wherever it ends up. */
export function titleOf(actor: ActorDetail): string {
  return isDemo(actor) ? `${actor.name} (demo)` : actor.name;
}

/** An actor with everything it stands on, as HTML. */
export function htmlOf(actor: ActorDetail): string {
  const facts = [actor.type, placesOf(actor), actor.issue_areas.map((area) => area.replaceAll('_', ' ')).join(', ')].filter(Boolean);
  const items = linesOf(actor).map(({ label, value, doubt, said }) => {
    const quote = said.find(({ claim }) => claim.excerpt)?.claim.excerpt;
    const links = said.map(({ claim, source }) => `${linkTo(source)} (${claim.last_seen_at.slice(0, 10)})`).join(', ');
    return `<li><b>${label}</b>: ${escapeMarkup(value)}${doubt ? ` (${doubt})` : ''} — ${quote ? `“${escapeMarkup(quote)}” ` : ''}${links}</li>`;
  });
  return [
    isDemo(actor) ? '<p><em>Demo: this is made up.</em></p>' : '',
    actor.description ? `<p>${escapeMarkup(actor.description)}</p>` : '',
    `<p>${escapeMarkup(facts.join(' · '))}</p>`,
    items.length > 0 ? `<ul>${items.join('')}</ul>` : '',
  ].join('');
}

function linkTo(source: Source): string {
  const name = escapeMarkup(sourceName(source));
  return isWebUrl(source.url) ? `<a href="${escapeMarkup(source.url)}">${name}</a>` : name;
}

/** The same as plain text. */
export function textOf(actor: ActorDetail): string {
  const lines = linesOf(actor).map(({ label, value, doubt, said }) => `${label}: ${value}${doubt ? ` (${doubt})` : ''} [${said.map(({ source }) => source.url).join(' ')}]`);
  return writableText([isDemo(actor) ? 'Demo: this is made up.' : '', actor.description ?? '', placesOf(actor), ...lines].filter(Boolean).join('\n'));
}

/** An actor as an entry of any feed, without categories. */
export function entryOf(actor: ActorDetail, { pageOf }: ActorFeed): FeedEntry {
  return {
    id: `urn:uuid:${actor.id}`,
    title: titleOf(actor),
    url: pageOf(actor.id),
    published: actor.created_at,
    updated: actor.updated_at,
    summary: actor.description,
    html: htmlOf(actor),
    text: textOf(actor),
    categories: [],
    sources: actor.sources.map((source) => ({ url: source.url, title: sourceName(source) })),
  };
}
