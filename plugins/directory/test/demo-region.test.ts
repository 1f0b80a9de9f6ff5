import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { isId } from 'civic';
import { draftsOfDemo } from '../demo/generate.ts';
import { openTaxonomy } from '../taxonomy/service.ts';
import { PROPERTIES } from '../types.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const now = Date.parse('2026-03-02T15:00:00.000Z');

describe('The demo region', () => {
  const demo = draftsOfDemo(1887, now);
  const claims = demo.drafts.flatMap((draft) => draft.claims);
  const sources = new Map(demo.drafts.flatMap((draft) => draft.sources).map((source) => [source.url, source]));
  const values = (property: string) => claims.filter((claim) => claim.property === property).map((claim) => claim.value);

  it('has at least 12 places, 400 actors of every type, 1,500 sources and 1,500 claims', () => {
    expect(demo.places.length).to.be.at.least(12);
    expect(demo.drafts.length).to.be.at.least(400);
    expect(sources.size).to.be.at.least(1_500);
    expect(claims.length).to.be.at.least(1_500);
    expect(new Set(demo.drafts.map(({ type }) => type)).size).to.equal(5);
    expect([...new Set(claims.map(({ property }) => property))]).to.only.include(PROPERTIES.filter((property) => property !== 'type'));
  });

  it('is the same for each run, and another one for another seed', () => {
    expect(JSON.stringify(draftsOfDemo(1887, now)) === JSON.stringify(demo)).to.be.true();
    expect(draftsOfDemo(1888, now).drafts[0]!.id).to.not.equal(demo.drafts[0]!.id);
    expect(draftsOfDemo(1887, now + 86_400_000).drafts[0]!.id).to.equal(demo.drafts[0]!.id);
  });

  it('gives every id, origin and source once', () => {
    const once = (list: (string | undefined)[]) => { expect(new Set(list).size).to.equal(list.length); };
    once(demo.drafts.map(({ id }) => id));
    once(demo.drafts.map(({ origin }) => origin));
    once(claims.map(({ id }) => id));
    once([...sources.values()].map(({ id }) => id));
    expect(demo.drafts.every(({ id, origin }) => isId(id) && origin!.startsWith('demo:'))).to.be.true();
    expect(demo.drafts.flatMap((draft) => draft.sources).filter(({ url, id }) => sources.get(url)!.id !== id)).to.equal([]);
  });

  it('marks every actor and every source as demo', () => {
    for (const draft of demo.drafts) {
      expect(draft.claims.some(({ property, value }) => property === 'identifier' && (value as { scheme: string }).scheme === 'demo'), draft.origin).to.be.true();
      expect(draft.sources.every(({ publication }) => publication!.endsWith('(demo)')), draft.origin).to.be.true();
    }
  });

  it('has no address, mailbox or telephone number that could be real', () => {
    expect([...sources.keys(), ...values('website') as string[]].filter((url) => !new URL(url).hostname.endsWith('.example'))).to.equal([]);
    for (const mail of values('email')) expect(mail).to.match(/^[a-z0-9.]+@[a-z0-9]+\.example$/);
    for (const phone of values('phone')) expect(phone).to.match(/^\+1\d{3}55501\d\d$/);
    for (const ein of values('identifier') as { scheme: string; value: string }[]) if (ein.scheme === 'ein') expect(ein.value).to.match(/^00-\d{7}$/);
  });

  it('uses every issue area, some of them often and some hardly', () => {
    const used = new Map<string, Set<string>>();
    for (const draft of demo.drafts) for (const { property, value } of draft.claims) if (property === 'issue_area') used.set(value as string, (used.get(value as string) ?? new Set()).add(draft.id!));
    expect([...used.keys()].sort()).to.equal(openTaxonomy(null).issueAreas.map(({ slug }) => slug).sort());
    const counts = [...used.values()].map(({ size }) => size).sort((one, other) => one - other);
    expect(counts[0]!).to.be.below(4);
    expect(counts.at(-1)!).to.be.above(50);
  });

  it('names only places, organizations and sources that it has', () => {
    const keys = new Set(demo.places.map(({ place_key }) => place_key));
    const ids = new Set(demo.drafts.map(({ id }) => id));
    expect(values('place').filter((key) => !keys.has(key as string))).to.equal([]);
    for (const { entity_id } of values('affiliation') as { entity_id: string }[]) expect(ids.has(entity_id)).to.be.true();
    for (const { left, right } of demo.judgements) expect([ids.has(left), ids.has(right), left === right]).to.equal([true, true, false]);
    for (const draft of demo.drafts) {
      const local = new Set(draft.sources.map(({ local_id }) => local_id));
      expect(draft.claims.every(({ source_local_id }) => local.has(source_local_id)), draft.origin).to.be.true();
    }
  });

  it('quotes a sentence for every claim, and says where it stands', () => {
    const faulty = claims.filter(({ excerpt, locator }) => !/^[\p{Lu}\d“].*[.”]$/u.test(excerpt!) || /\{\w+\}|undefined/.test(excerpt!) || locator!.end - locator!.start !== excerpt!.length);
    expect(faulty).to.equal([]);
  });

  it('has what is fresh, aging and stale, deprecated and disputed, past and to come, merged and kept apart', () => {
    const ages = demo.drafts.map(({ updated_at }) => (now - Date.parse(updated_at!)) / 86_400_000);
    expect(ages.every((age) => age >= 0)).to.be.true();
    expect(ages.filter((age) => age < 60).length).to.be.above(100);
    expect(ages.filter((age) => age > 120 && age < 400).length).to.be.above(50);
    expect(ages.filter((age) => age > 500).length).to.be.above(30);
    expect(claims.filter(({ rank }) => rank === 'deprecated').length).to.be.above(5);
    expect(claims.filter(({ status }) => status === 'disputed').length).to.be.above(2);
    const starts = values('event_start').map((start) => Date.parse(start as string));
    expect(starts.filter((start) => start > now).length).to.be.above(30);
    expect(starts.filter((start) => start < now).length).to.be.above(20);
    expect(demo.judgements.map(({ verdict }) => verdict)).to.include(['same', 'different']);
  });
});
