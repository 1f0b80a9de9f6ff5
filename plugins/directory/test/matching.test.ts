import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { Failure } from 'civic';
import { testServer, type TestServer } from 'civic/testing';
import fc from 'fast-check';
import { join } from 'node:path';
import directory from '../index.ts';
import { blocks, MOST_BLOCKS } from '../matching/block.ts';
import { compare, nameLevel, nameLikeness, SAME_NAME } from '../matching/compare.ts';
import { normalizeEmail, normalizeIdentifier, normalizePhone, normalizeWebsite } from '../matching/contact.ts';
import { DEFAULTS } from '../matching/defaults.ts';
import { scoreRecords, SPLIT, syntheticNameScores, trainedParameters } from '../matching/eval.ts';
import { judge } from '../matching/judge.ts';
import { normalizeOrganization } from '../matching/organization.ts';
import { normalizePerson } from '../matching/person.ts';
import { prepare, profileOfDraft, type MatchProfile } from '../matching/profile.ts';
import { syntheticRecords } from '../matching/synthetic.ts';
import { runCommand, testFolder } from './transfer.ts';

export const notQuick = 'it evaluates results on many records';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

function profile(more: Partial<MatchProfile>): MatchProfile {
  return { type: 'organization', names: [], places: [], states: [], websites: [], emails: [], phones: [], identifiers: [], issue_areas: [], dates: [], ...more };
}

const judged = (left: Partial<MatchProfile>, right: Partial<MatchProfile>) => judge(prepare(profile(left)), prepare(profile(right)));
const isSame = (type: 'person' | 'organization', left: string, right: string) => nameLikeness(type === 'person', left, right) >= SAME_NAME;

describe('Names of organizations', () => {
  const same: [string, string][] = [
    ['The Heartland Alliance, Inc.', 'Heartland Alliance'],
    ['St. Louis County Library', 'Saint Louis County Library District'],
    ['Boys & Girls Clubs of Greater Kansas City', 'Boys and Girls Club of Greater Kansas City'],
    ['MO Dept. of Health & Senior Svcs', 'Missouri Department of Health and Senior Services'],
    ['Kansas City League of Women Voters', 'League of Women Voters of Kansas City'],
    ['Fifth Ward Neighborhood Assn', 'Ward 5 Neighborhood Association'],
    ['American Legion Post XII', 'American Legion Post 12'],
    ['ACLU of Missouri', 'American Civil Liberties Union of Missouri'],
    ['Legal Services of Eastern Missouri (LSEM), Inc.', 'Legal Services of Eastern Missouri'],
    ['Fundación Águila', 'Fundacion Aguila'],
    ['Empower Misouri', 'Empower Missouri'],
    ['Smith Holdings dba Riverside Theater', 'Riverside Theatre'],
    ['House Committee on Insurance', 'Insurance'],
  ];
  const different: [string, string][] = [
    ['SEIU Local 12', 'SEIU Local 21'],
    ['Second Baptist Church', 'First Baptist Church'],
    ['Friends of the Mill Creek Library', 'Mill Creek Library'],
    ['Sierra Club Foundation', 'Sierra Club'],
    ['Department of Public Works', 'Department of Public Health'],
    ['Legal Services of Eastern Missouri', 'Legal Services of Western Missouri'],
    ['Code for Asheville', 'Code for Nashville'],
    ['Senate Committee on Insurance', 'House Committee on Insurance'],
    ['City of Osworth Police Department (COPD)', 'City of Garowski Police Department (CGPD)'],
  ];
  for (const [left, right] of same) it(`takes "${left}" for "${right}"`, () => { expect(isSame('organization', left, right)).to.be.true(); });
  for (const [left, right] of different) it(`tells "${left}" from "${right}"`, () => { expect(isSame('organization', left, right)).to.be.false(); });

  it('have one form, the same when it is made again', () => {
    expect(normalizeOrganization('The Mill Creek Neighborhood Ass’n., Inc.')).to.equal('mill creek neighborhood association');
    fc.assert(fc.property(nameText, (name) => { expect(normalizeOrganization(normalizeOrganization(name))).to.equal(normalizeOrganization(name)); }));
  });
});

describe('Names of people', () => {
  const same: [string, string][] = [
    ['Griffith, David E., Jr.', 'David E. Griffith Jr'],
    ['William "Bill" Owen', 'Bill Owen'],
    ['Hon. Kathy O’Brien', 'OBrien, Kathleen'],
    ['W.H. Falkner', 'Bill Falkner'],
    ['José García', 'Jose Garcia'],
    ['Maria de la Cruz', 'Maria Delacruz'],
    ['J. Scott Clarke', 'Scott Clarke'],
    ['GRIFFITH DAVID', 'David Griffith'],
    ['Maria Garcia-Lopez', 'Maria Garcia'],
    ['Bishop Davidson', 'Davidson, B.'],
  ];
  const different: [string, string][] = [
    ['Robert Smith', 'Roberta Smith'],
    ['John Smith Jr.', 'John Smith Sr.'],
    ['John A. Smith', 'John B. Smith'],
    ['Thomas James', 'James Thomas'],
    ['Anne Johnson', 'Anne Johnston'],
    ['Smith', 'David Smith'],
  ];
  for (const [left, right] of same) it(`takes "${left}" for "${right}"`, () => { expect(isSame('person', left, right)).to.be.true(); });
  for (const [left, right] of different) it(`tells "${left}" from "${right}"`, () => { expect(isSame('person', left, right)).to.be.false(); });

  it('have one form, the same when it is made again', () => {
    expect(normalizePerson('Rep. Griffith, David E., Jr.')).to.equal('david e griffith jr');
    fc.assert(fc.property(fc.constantFrom('Dr. Maria de la Cruz', 'Smith-Jones, Ann', 'J. Scott Clarke III', 'Sen. Kim Van Dyk, PhD'), (name) => {
      expect(normalizePerson(normalizePerson(name))).to.equal(normalizePerson(name));
    }));
  });
});

describe('Addresses and identifiers', () => {
  it('compare web sites by their registered domain', () => {
    expect(normalizeWebsite('http://www.Parks.City.gov/index.html')).to.equal({ site: 'city.gov', page: 'parks.city.gov' });
    expect(normalizeWebsite('example.org/about/?x=1#top')).to.equal({ site: 'example.org', page: 'example.org/about' });
    expect(normalizeWebsite('not a site')).to.be.null();
  });

  it('take a page on a shared host by its owner, and the host alone for nothing', () => {
    expect(normalizeWebsite('https://m.facebook.com/groups/MillCreek/')!.site).to.equal('facebook.com/millcreek');
    expect(normalizeWebsite('https://millcreek.wordpress.com/contact')!.site).to.equal('millcreek.wordpress.com');
    expect(normalizeWebsite('https://linktr.ee/')).to.be.null();
  });

  it('use a mail domain as a key unless it is a public mail provider', () => {
    expect(normalizeEmail('mailto:Info+News@MillCreek.org')).to.equal({ address: 'info@millcreek.org', domain: 'millcreek.org' });
    expect(normalizeEmail('a@gmail.com')!.domain).to.be.null();
    expect(normalizeEmail('nobody')).to.be.null();
  });

  it('bring telephone numbers, EINs, Wikidata and Open Civic Data ids to one form', () => {
    expect(['(573) 751-3623', '+1 573 751 3623', '573.751.3623 ext. 4'].map(normalizePhone)).to.equal(Array.from({ length: 3 }, () => '+15737513623'));
    expect(normalizePhone('+44 20 7946 0958')).to.equal('+442079460958');
    expect(normalizePhone('soon')).to.be.null();
    expect(normalizeIdentifier({ scheme: 'EIN', value: '43-0653611' })).to.equal({ scheme: 'ein', value: '430653611' });
    expect(normalizeIdentifier({ scheme: 'ein', value: '000000000' })).to.be.null();
    expect(normalizeIdentifier({ scheme: 'wikidata', value: 'http://www.wikidata.org/entity/q42' })).to.equal({ scheme: 'wikidata', value: 'Q42' });
    const ocd = 'ocd-person/ba6eb394-0402-49ba-9917-c5618d8a1589';
    expect(normalizeIdentifier({ scheme: 'openstates', value: ocd })).to.equal({ scheme: 'ocd-person', value: ocd.slice(11) });
  });
});

describe('The judgement on two actors', () => {
  const pantry = { names: ['Mill Creek Food Pantry'], places: ['salem,oregon'], states: ['oregon'], websites: ['https://millcreekpantry.org'], phones: ['503-555-2368'] };
  const ada = { type: 'person' as const, names: ['Ada Quimby'], places: ['salem,oregon'], states: ['oregon'] };

  it('merges on an identifier that belongs to one alone, whatever the names', () => {
    const verdict = judged({ ...pantry, identifiers: [{ scheme: 'ein', value: '93-1234567' }] }, { names: ['Oak Grove Meals'], identifiers: [{ scheme: 'EIN', value: '931234567' }] });
    expect([verdict.zone, verdict.rule]).to.equal(['match', 'The same ein']);
  });

  it('never merges over two such identifiers, however much else agrees', () => {
    const verdict = judged({ ...pantry, identifiers: [{ scheme: 'ein', value: '93-1234567' }] }, { ...pantry, identifiers: [{ scheme: 'ein', value: '93-7654321' }] });
    expect([verdict.zone, verdict.rule]).to.equal(['no', 'Different ein']);
  });

  it('asks when identifiers contradict each other', () => {
    const both = (qid: string) => ({ ...pantry, identifiers: [{ scheme: 'ein', value: '93-1234567' }, { scheme: 'wikidata', value: qid }] });
    expect(judged(both('Q1'), both('Q2')).zone).to.equal('review');
  });

  it('never merges people by name and place alone, but shows them', () => {
    const verdict = judged({ ...ada, issue_areas: ['housing'] }, { ...ada, issue_areas: ['housing'] });
    expect([verdict.zone, verdict.rule]).to.equal(['review', 'Names and places alone never merge people']);
  });

  it('merges people of one name and one mail address', () => {
    expect(judged({ ...ada, emails: ['ada@quimby.example'] }, { ...ada, emails: ['ADA@quimby.example'] }).zone).to.equal('match');
  });

  it('does not take the front page of a council for a page of its members', () => {
    const member = { ...ada, websites: ['https://council.example.gov'] };
    expect(judged(member, member).zone).to.equal('review');
  });

  it('keeps colleagues apart who share a telephone', () => {
    expect(judged({ ...ada, phones: ['503-555-2368'] }, { ...ada, names: ['Ben Osgood'], phones: ['503-555-2368'] }).zone).to.equal('no');
  });

  it('merges an organization with its other spelling in the same place, not one with nothing in common but the name', () => {
    expect(judged(pantry, { ...pantry, names: ['The Mill Creek Food Pantry, Inc.'], websites: [], phones: [] }).zone).to.equal('match');
    expect(judged(pantry, { names: pantry.names }).zone).to.equal('review');
  });

  it('asks before it merges a name that many have', () => {
    const verdict = judged({ ...pantry, names: ['First Baptist Church'], websites: [], phones: [] }, { ...pantry, names: ['First Baptist Church'], websites: [], phones: [] });
    expect([verdict.zone, verdict.rule]).to.equal(['review', 'Many organizations have such a name']);
  });

  it('keeps branches, friends and departments apart that share a site and a telephone', () => {
    const under = (name: string) => ({ ...pantry, names: [name] });
    expect(judged(under('Salem Carpenters Local 12'), under('Salem Carpenters Local 21')).zone).to.equal('no');
    expect(judged(under('Mill Creek Food Pantry'), under('Friends of Mill Creek Food Pantry')).zone).to.equal('no');
    expect(judged(under('Salem Police Department'), under('Salem Parks Department')).zone).to.equal('no');
  });

  it('asks whether an organization that kept its addresses has a new name', () => {
    expect(judged(pantry, { ...pantry, names: ['Willamette Nourish'] }).zone).to.equal('review');
  });

  it('asks when the types differ', () => {
    const verdict = judged(pantry, { ...pantry, type: 'initiative' });
    expect([verdict.zone, verdict.rule]).to.equal(['review', 'Of different types']);
  });

  it('keeps meetings of one name on different days apart', () => {
    const meeting = (day: string) => ({ ...pantry, type: 'event' as const, dates: [day] });
    expect(judged(meeting('2026-03-01'), meeting('2026-04-01')).zone).to.equal('no');
    expect(judged(meeting('2026-03-01'), meeting('2026-03-01')).zone).to.equal('match');
  });

  it('explains itself field by field, in bits, and nothing for what is missing', () => {
    const { explanation } = judged({ ...pantry, phones: [] }, { ...pantry, websites: ['https://elsewhere.org'] });
    expect(explanation.map(({ field, level }) => `${field} ${level}`)).to.equal(['name exact', 'place exact', 'website disagree', 'email missing', 'phone missing', 'identifier missing', 'issue_areas missing']);
    const weight = (field: string) => explanation.find((one) => one.field === field)!.weight;
    expect(weight('place')).to.be.above(0);
    expect(weight('website')).to.be.below(0);
    expect(weight('phone')).to.equal(0);
    expect(explanation[2]).to.include({ left: 'millcreekpantry.org', right: 'elsewhere.org' });
  });

  it('names the two names that matched, not the first ones', () => {
    const nameOf = (left: Partial<MatchProfile>, right: Partial<MatchProfile>) => judged(left, right).explanation.find(({ field }) => field === 'name')!;
    expect(nameOf({ type: 'person', names: ['Speaker of the Month', 'Bob Smith'] }, { type: 'person', names: ['Robert Smith', 'R. J. Smith'] })).to.include({ left: 'Bob Smith', right: 'Robert Smith' });
    expect(nameOf({ names: ['Our partners', 'ACLU of Missouri'] }, { names: ['Missouri Liberty Fund', 'American Civil Liberties Union of Missouri'] })).to.include({ left: 'ACLU of Missouri', right: 'American Civil Liberties Union of Missouri' });
    expect(nameOf({ type: 'campaign', names: ['Fair rents', 'Jane Doe'] }, { type: 'person', names: ['J. D.', 'Jane Doe'] })).to.include({ left: 'Jane Doe', right: 'Jane Doe' });
  });

  it('is the same from both sides', () => {
    const records = syntheticRecords(7, 150).map((record) => prepare(record.profile));
    const any = fc.nat(records.length - 1).map((at) => records[at]!);
    fc.assert(fc.property(any, any, (left, right) => {
      expect(compare(left, right).map(({ level }) => level)).to.equal(compare(right, left).map(({ level }) => level));
      expect(judge(left, right).zone).to.equal(judge(right, left).zone);
    }), { numRuns: 300 });
    fc.assert(fc.property(nameText, nameText, fc.boolean(), (left, right, isPerson) => { expect(nameLikeness(isPerson, left, right)).to.equal(nameLikeness(isPerson, right, left)); }));
    fc.assert(fc.property(nameText.filter((name) => /[a-z]{3}/.test(name)), (name) => { expect(nameLevel(nameLikeness(false, name, name))).to.equal('exact'); }));
  });
});

describe('Blocking keys', () => {
  const keys = (more: Partial<MatchProfile>) => blocks(prepare(profile(more)));
  const meet = (left: Partial<MatchProfile>, right: Partial<MatchProfile>) => keys(left).some((key) => keys(right).includes(key));

  it('are few, short and always the same', () => {
    for (const { profile: one } of syntheticRecords(8, 100)) {
      const found = blocks(prepare(one));
      expect(found.length).to.be.between(0, MOST_BLOCKS + 1);
      expect(found.every((key) => key.length <= 60)).to.be.true();
      expect(found).to.equal(blocks(prepare(structuredClone(one))));
    }
  });

  it('bring together what shares an identifier, a site, a telephone, a sound or a rare word', () => {
    expect(meet({ names: ['A'], identifiers: [{ scheme: 'ein', value: '93-1234567' }] }, { names: ['B'], identifiers: [{ scheme: 'ein', value: '931234567' }] })).to.be.true();
    expect(meet({ names: ['A'], websites: ['www.a.org/x'] }, { names: ['B'], websites: ['https://a.org'] })).to.be.true();
    expect(meet({ names: ['A'], phones: ['503-555-2368'] }, { names: ['B'], phones: ['+15035552368'] })).to.be.true();
    const person = { type: 'person' as const, places: ['salem,oregon'], states: ['oregon'] };
    expect(meet({ ...person, names: ['J. Smyth'] }, { ...person, names: ['Smith, John'] })).to.be.true();
    expect(meet({ names: ['Quimby Tenants Union'], states: ['oregon'] }, { names: ['Quinby Tenants Union'], states: ['oregon'] })).to.be.true();
    expect(meet({ names: ['Tenants Union of Quimby'], places: ['salem,oregon'], states: ['oregon'] }, { names: ['Tenants Union of Osgood'], places: ['bend,oregon'], states: ['oregon'] })).to.be.false();
  });

  it('come from the claims of a draft that count', () => {
    const claim = (property: 'name' | 'place' | 'website', value: string, more = {}) => ({ property, value, source_local_id: 's', ...more });
    const found = profileOfDraft({ type: 'organization', claims: [
      claim('name', 'Mill Creek Pantry'), claim('place', 'salem,oregon'),
      claim('website', 'https://old.example', { rank: 'deprecated' }), claim('website', 'https://wrong.example', { status: 'retracted' }),
    ] });
    expect(found).to.include({ names: ['Mill Creek Pantry'], places: ['salem,oregon'], states: ['oregon'], websites: [] });
  });
});

describe('What was measured', () => {
  it('holds on the test split of the synthetic sets', { timeout: 30_000 }, () => {
    const names = syntheticNameScores(SPLIT.test);
    expect([names.all!.precision >= 0.98, names.all!.recall >= 0.97], JSON.stringify(names.all)).to.equal([true, true]);
    const { proposed, merged } = scoreRecords(SPLIT.test);
    expect(proposed.f1, JSON.stringify(proposed)).to.be.at.least(0.97);
    expect(merged.precision, JSON.stringify(merged)).to.be.at.least(0.995);
  });

  it('uses the weights that come out of the training split', { timeout: 30_000 }, () => {
    expect(trainedParameters()).to.equal(DEFAULTS);
  });
});

describe('civic eval matching', () => {
  const folder = testFolder();
  let kit: TestServer;
  before(async () => { kit = await testServer({ plugins: [directory], open: false }); });
  after(async () => {
    await kit.close();
    folder.remove();
  });

  const run = (path: string, options = {}) => runCommand(kit, 'eval matching', [path], options);
  const file = (text: string): string => folder.file('pairs.csv', text);

  it('judges a file of name pairs by names alone, in all and by type', { timeout: 30_000 }, async () => {
    const path = file('\uFEFFis_match,type,name2,name1\nTRUE,person,"Owen, Bill",William Owen\n0,ORG,The River,Friends of the River\n1,organization,Acme,"Acme, Inc."\n1,organization,Acme,Zebra\n');
    const { value: { threshold, names }, out } = await run(path);
    expect(threshold).to.equal(SAME_NAME);
    expect(names[0].names.all).to.equal({ pairs: 4, matches: 3, precision: 1, recall: 0.6667, f1: 0.8 });
    expect(names[0].names.person).to.include({ pairs: 1, f1: 1 });
    expect(names[0].names.organization).to.include({ pairs: 3, recall: 0.5 });
    expect(out).to.include(['names alone never merge them', 'likeness of 0.81']);
  });

  it('takes the schemata of FollowTheMoney for types', { timeout: 30_000 }, async () => {
    const path = file('case_group,Schema,name1,name2,is_match,quality\nx,Person,William Owen,"Owen, Bill",yes,STRONG\nx,LegalEntity,Acme,"Acme, Inc.",true,\nx,Vessel,Acme,Zebra,false,\nx,PERSON,Ann Lee,Ben Lee,no,\n');
    const { value: { names } } = await run(path);
    expect(names[0].names.all).to.include({ pairs: 4, matches: 2, f1: 1 });
    expect(names[0].names.person).to.include({ pairs: 2, matches: 1 });
    expect(names[0].names.organization).to.include({ pairs: 2, matches: 1 });
  });

  it('says what is wrong with a file', { timeout: 30_000 }, async () => {
    await expect(run(file('name1,name2\nA,B\n'))).to.reject(Failure, `${join(folder.path, 'pairs.csv')} has no column type, is_match: its first line should be name1,name2,type,is_match, or have schema for type`);
    await expect(run(file('name1,name2,type,is_match\nA,B,person,maybe\n'))).to.reject(Failure, /row 2: is_match is "maybe"/);
    await expect(run(join(folder.path, 'nowhere.csv'))).to.reject(Failure, /nowhere\.csv cannot be read/);
  });
});

const nameText = fc.array(fc.constantFrom(
  'The', 'of', '&', 'Inc.', 'St.', 'Saint', 'Mill', 'Creek', 'Assn', 'Association', 'Dept', 'First', '12th', 'Local', 'IV', 'Smith', 'Jr.', 'Ann', 'J.', 'New', 'York', 'NY', 'Café', 'Ünion', 'Health', 'Care', 'dba', 'U.S.', '(MC)', 'O’Neil', 'van', ',',
), { minLength: 1, maxLength: 7 }).map((words) => words.join(' '));
