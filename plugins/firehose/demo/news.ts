import type { KnownActor } from 'civic/directory';
import { createHash } from 'node:crypto';
import { about, DAY, isoOf, sourcesOf, type Desk } from './desk.ts';

/** What papers, registers and the actors' own pages brought. */
export function writeNews(desk: Desk): void {
  const { actors, random } = desk;
  const organizations = actors.filter(({ type }) => type === 'organization');
  for (const one of organizations) {
    if (random.chance(0.22)) writeFiling(desk, one);
    if (random.chance(0.12)) writeGrant(desk, one);
    if (random.chance(0.12)) writePageChange(desk, one);
  }
  for (const one of actors.filter(({ type }) => type === 'initiative')) if (random.chance(0.6)) writeGrant(desk, one);
  for (const one of actors.filter(({ type }) => type === 'campaign' || type === 'initiative')) writeCoalition(desk, one);
  for (const one of actors.filter(({ type }) => type === 'person')) if (random.chance(0.15)) writeRole(desk, one);
}

const daysAgo = (desk: Desk, low = 1, high = 360): number => desk.now - desk.random.between(low, high) * DAY - desk.random.between(0, 20) * 3_600_000;

function writeFiling(desk: Desk, who: KnownActor): void {
  const [record] = sourcesOf(who, 'government_record');
  if (!record) return;
  const detected = daysAgo(desk);
  desk.add(`filing ${who.id}`, {
    type: 'filing', title: `${who.name} filed its yearly report`, summary: `The register lists it as active${who.places[0] ? `, in ${who.places[0].name}` : ''}.`,
    occurred_at: isoOf(detected - desk.random.between(1, 9) * DAY), ...about(who), source_class: 'government_record', confidence: 0.95, relevance: 0.5, detected, sources: [record],
  });
}

function writeGrant(desk: Desk, who: KnownActor): void {
  const sources = sourcesOf(who, 'news_article', 'report', 'org_website');
  const detected = daysAgo(desk);
  const amount = (desk.random.between(4, 90) * 2500).toLocaleString('en-US');
  const work = who.issue_areas.length > 0 ? desk.issueName(desk.random.pick(who.issue_areas)) : 'what it began';
  desk.add(`grant ${who.id}`, {
    type: 'grant_award', title: `${who.name} receives ${amount} dollars for work on ${work}`, summary: 'The county foundation pays it out over two years.',
    occurred_at: isoOf(detected - desk.random.between(0, 6) * DAY), ...about(who), source_class: 'grant_notice', confidence: 0.8, relevance: 0.8, detected, sources,
  });
}

/** A page that reads differently than the last time. */
function writePageChange(desk: Desk, who: KnownActor): void {
  const [page] = sourcesOf(who, 'org_website');
  if (!page) return;
  const earlier = createHash('sha256').update(`${page.url} as it was`).digest('hex');
  desk.add(`change ${page.id}`, {
    type: 'source_change', title: `The page “${page.title ?? page.url}” of ${who.name} was changed`, summary: 'What the directory took from it was read again.',
    ...about(who), source_class: 'organization_update', confidence: 0.9, relevance: 0.4, changes: [{ field: 'content_hash', before: earlier, after: page.content_hash }],
    detected: Math.min(Date.parse(page.retrieved_at), desk.now), sources: [page],
  });
}

const JOINED = ['{other} stands behind {name}', '{name} and {other} will share an office', '{other} and {name} call to the same rally', '{name} wins {other} as a partner'];

function writeCoalition(desk: Desk, who: KnownActor): void {
  const partner = who.affiliations.find(({ role, entity_id }) => role === 'supported by' && entity_id !== null);
  if (!partner) return;
  const sources = [...sourcesOf(who, 'org_website'), ...sourcesOf(who, 'news_article', 'op_ed')];
  const told = about(who);
  const detected = daysAgo(desk);
  desk.add(`coalition ${who.id}`, {
    type: 'coalition_activity', title: desk.random.pick(JOINED).replace('{name}', who.name).replace('{other}', partner.name), summary: who.description,
    occurred_at: isoOf(detected - desk.random.between(0, 4) * DAY), ...told, actors: [...told.actors!, { id: desk.present(partner.entity_id), name: partner.name, type: 'organization', role: 'partner' }],
    source_class: 'organization_update', confidence: 0.75, relevance: 0.6, detected, sources,
  });
}

/** Somebody took an office. A few of these still wait for somebody to look at them. */
function writeRole(desk: Desk, who: KnownActor): void {
  const office = who.affiliations.find(({ role, since }) => role !== null && since !== null);
  if (!office) return;
  const told = about(who);
  const detected = daysAgo(desk);
  desk.add(`role ${who.id}`, {
    type: 'role_change', title: `New in office: ${who.name}, ${office.role!}, ${office.name}`, summary: office.until ? `The term runs until ${office.until}.` : null, occurred_at: isoOf(detected - desk.random.between(1, 14) * DAY),
    ...told, actors: [{ ...told.actors![0]!, role: office.role! }, { id: desk.present(office.entity_id), name: office.name, type: 'organization' }],
    source_class: 'government_record', confidence: 0.8, relevance: 0.65, changes: [{ field: 'role', before: null, after: office.role! }],
    review_state: desk.random.chance(0.15) ? 'pending' : 'approved', detected, sources: sourcesOf(who, 'government_record', 'org_website'),
  });
}
