import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import { ACTOR_TYPES, SIGNAL_TYPES, SORTS, SOURCE_CLASSES, VISIBILITIES } from '../types.ts';
import { firehoseKit, titlesOf, type FirehoseKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const at = (time: string) => `2026-02-${time}Z`;

for (const database of testDatabases()) describe(`A Firehose query on ${database}`, { timeout: 60_000 }, () => {
  let kit: FirehoseKit;

  before(async () => {
    kit = await firehoseKit({ database, plugins: ['directory'] });
    const person = { name: 'Ada', type: 'person' as const };
    const campaign = { name: 'Yes on 3', type: 'campaign' as const };
    await kit.publish(
      { title: 'meeting', type: 'public_meeting', source_class: 'government_agenda', places: ['kansas-city-mo'], issues: ['public_transit'], actors: [person], detected_at: at('01T10:00:00.000'), occurred_at: at('20T10:00:00.000') },
      { title: 'vote', type: 'vote', source_class: 'government_record', places: ['kansas-city,missouri', 'saint-louis,missouri'], issues: ['public_transit', 'housing_affordability'], actors: [person, campaign], detected_at: at('02T10:00:00.000'), occurred_at: at('19T10:00:00.000') },
      { title: 'filing', type: 'filing', source_class: 'news', places: ['st-louis-mo'], issues: ['housing_affordability'], actors: [campaign], detected_at: at('03T10:00:00.000'), occurred_at: null },
      { title: 'grant', type: 'grant_award', source_class: 'grant_notice', places: ['nowhere,atall'], issues: ['unheard_of'], detected_at: at('04T10:00:00.000'), occurred_at: at('18T10:00:00.000') },
    );
  });
  after(() => kit.close());

  const found = async (query: string) => titlesOf((await kit.snapshot(query)).signals).sort();
  async function refused(query: string) {
    const { status, headers, body } = await kit.ask('GET', `/api/firehose?${query}`, { as: kit.reader });
    expect(status, query).to.equal(400);
    expect(headers['content-type'], query).to.match(/^application\/problem\+json/);
    return body;
  }

  it('finds everything when it asks for nothing', async () => {
    expect(await found('')).to.equal(['filing', 'grant', 'meeting', 'vote']);
  });

  it('means a place by its key, its slug or a synonym of either [resources.place-slug, endpoints.firehose-place]', async () => {
    for (const place of ['kansas-city,missouri', 'kansas-city-mo', 'kansas-city%2Cmissouri']) expect(await found(`place=${place}`), place).to.equal(['meeting', 'vote']);
    for (const place of ['st-louis,missouri', 'saint-louis,missouri', 'st-louis-mo', 'saint-louis-mo']) expect(await found(`place=${place}`), place).to.equal(['filing', 'vote']);
    expect((await kit.snapshot('place=kansas-city-mo')).query.places).to.equal(['kansas-city,missouri']);
  });

  it('finds a place that is in no list when a signal names it, and nothing at one that none does', async () => {
    expect(await found('place=nowhere,atall')).to.equal(['grant']);
    expect(await found('place=atlantis,missouri')).to.equal([]);
    expect(await found('place=Kansas%20City%20MO')).to.equal([]);
  });

  it('means an issue by its area or by its domain [endpoints.firehose-issue]', async () => {
    expect(await found('issue=public_transit')).to.equal(['meeting', 'vote']);
    const { body: area } = await kit.ask('GET', '/api/issue-areas/public_transit');
    expect(await found(`issue=${area.domain.slug}`)).to.equal(['meeting', 'vote']);
    expect(await found('issue=unheard_of')).to.equal(['grant']);
    expect(await found('issue=nobody_speaks_of_it')).to.equal([]);
  });

  it('finds by actor type, signal type and source class [endpoints.firehose-source-class]', async () => {
    expect(await found('actor_type=person')).to.equal(['meeting', 'vote']);
    expect(await found('actor_type=campaign')).to.equal(['filing', 'vote']);
    expect(await found('actor_type=event')).to.equal([]);
    expect(await found('signal_type=vote')).to.equal(['vote']);
    expect(await found('source_class=news')).to.equal(['filing']);
  });

  it('takes values of one filter as or, filters among each other as and [endpoints.firehose-filters-repeat]', async () => {
    expect(await found('signal_type=vote&signal_type=filing')).to.equal(['filing', 'vote']);
    expect(await found('signal_type=vote&signal_type=filing&place=kansas-city-mo')).to.equal(['vote']);
    expect(await found('place=kansas-city-mo&place=nowhere,atall&issue=public_transit&issue=unheard_of')).to.equal(['grant', 'meeting', 'vote']);
    expect(await found('place=kansas-city-mo&issue=housing_affordability&actor_type=person&source_class=government_record')).to.equal(['vote']);
    expect(await found('signal_type=vote&source_class=news')).to.equal([]);
    expect(await found('signal_type=vote&signal_type=vote')).to.equal(['vote']);
  });

  it('names what is allowed when a closed list is left', async () => {
    const lists = { actor_type: ACTOR_TYPES, signal_type: SIGNAL_TYPES, source_class: SOURCE_CLASSES, visibility: VISIBILITIES, sort: SORTS };
    for (const [parameter, allowed] of Object.entries(lists)) {
      for (const value of ['unheard_of', '', allowed[0].toUpperCase()]) {
        const { errors } = await refused(`${parameter}=${value}`);
        expect(errors[0].parameter.replace(/[.[].*$/, ''), parameter).to.equal(parameter);
        for (const word of allowed) expect(errors[0].detail).to.contain(word);
      }
    }
    expect((await refused('signal_type=vote&signal_type=party')).errors).to.have.length(1);
  });

  it('refuses unknown parameters and names the nearest known one', async () => {
    for (const [given, meant] of [['plcae', 'place'], ['places', 'place'], ['actor_types', 'actor_type'], ['limt', 'limit'], ['signaltype', 'signal_type'], ['Since', 'since']]) {
      const { errors } = await refused(`${given}=1`);
      expect(errors[0].parameter).to.equal(given);
      expect(errors[0].detail, given).to.match(new RegExp(`\\b${meant}\\b`));
    }
  });

  it('refuses a single-valued parameter that is given twice', async () => {
    for (const query of ['limit=1&limit=2', 'sort=relevance_desc&sort=relevance_desc', 'since=2026-01-01&since=2026-01-02', 'until=2026-01-01&until=2026-01-02', 'visibility=public&visibility=workspace', 'cursor=a&cursor=b']) {
      expect((await refused(query)).errors[0].parameter).to.equal(query.split('=')[0]);
    }
  });

  it('counts since in and until out, on the time of detection [endpoints.firehose-since, endpoints.firehose-until]', async () => {
    expect(await found(`since=${at('02T10:00:00.000')}`)).to.equal(['filing', 'grant', 'vote']);
    expect(await found(`since=${at('02T10:00:00.001')}`)).to.equal(['filing', 'grant']);
    expect(await found(`until=${at('02T10:00:00.000')}`)).to.equal(['meeting']);
    expect(await found(`until=${at('02T10:00:00.001')}`)).to.equal(['meeting', 'vote']);
    expect(await found(`since=${at('02T10:00:00.000')}&until=${at('04T10:00:00.000')}&sort=relevance_desc`)).to.equal(['filing', 'vote']);
  });

  it('accepts dates, times with offsets and times without a fraction, and returns them in UTC', async () => {
    expect(await found('since=2026-02-03')).to.equal(['filing', 'grant']);
    expect(await found('until=2026-02-03')).to.equal(['meeting', 'vote']);
    expect(await found('since=2026-02-03T12:00:00%2B02:00&until=2026-02-03T05:00:01-05:00')).to.equal(['filing']);
    expect(await found('since=2026-02-04T10:00:00Z')).to.equal(['grant']);
    const { query } = await kit.snapshot('since=2026-02-03&until=2026-02-03T12:00:00%2B02:00');
    expect([query.since, query.until]).to.equal(['2026-02-03T00:00:00.000Z', '2026-02-03T10:00:00.000Z']);
  });

  it('counts since and until on the time of the occurrence when sorted by it, which leaves out what has none', async () => {
    expect(await found(`sort=occurred_at_desc&since=${at('19T10:00:00.000')}`)).to.equal(['meeting', 'vote']);
    expect(await found(`sort=occurred_at_desc&since=${at('18T10:00:00.000')}&until=${at('20T10:00:00.000')}`)).to.equal(['grant', 'vote']);
    expect(await found('sort=occurred_at_desc&since=2000-01-01')).to.equal(['grant', 'meeting', 'vote']);
  });

  it('refuses what is no time', async () => {
    for (const value of ['yesterday', '', '2026-02-30', '2026-13-01', '2026-02-03T25:00:00Z', '2026-02-03T10:00:00', '1767225600', '03.02.2026', '2026', '2026-02']) {
      for (const parameter of ['since', 'until']) expect((await refused(`${parameter}=${value}`)).errors[0].parameter, value).to.equal(parameter);
    }
  });

  it('refuses a limit below 1 or above 200 [endpoints.firehose-limit, limits.firehose-page]', async () => {
    for (const value of ['0', '201', '-1', '1.5', 'all', '']) expect((await refused(`limit=${value}`)).errors[0].parameter, value).to.equal('limit');
    expect((await kit.snapshot('limit=1')).signals).to.have.length(1);
    expect((await kit.snapshot('limit=200')).query.limit).to.equal(200);
    expect((await kit.snapshot('')).query.limit).to.equal(50);
  });

  it('is returned as it was understood, with its defaults', async () => {
    expect((await kit.snapshot('')).query).to.equal({
      places: [], issues: [], actor_types: [], signal_types: [], source_classes: [], visibility: 'workspace', since: null, until: null, cursor: null, limit: 50, sort: 'detected_at_desc',
    });
    const { query } = await kit.snapshot('signal_type=vote&signal_type=filing&actor_type=person&source_class=news&visibility=public&limit=7&sort=relevance_desc&issue=unheard_of&place=nowhere,atall');
    expect(query).to.include({ places: ['nowhere,atall'], issues: ['unheard_of'], actor_types: ['person'], source_classes: ['news'], visibility: 'public', limit: 7, sort: 'relevance_desc' });
    expect(query.signal_types.toSorted()).to.equal(['filing', 'vote']);
  });

  it('says nothing of hostile values but that they match nothing', async () => {
    for (const value of ["' or 1=1 --", '%00', '%F0%9F%8F%9B', 'x'.repeat(200), '__proto__', '%25', '*']) {
      const { status, body } = await kit.ask('GET', `/api/firehose?place=${encodeURIComponent(decodeURIComponent(value.replace(/%(?![0-9A-F]{2})/g, '%25')))}&issue=constructor`, { as: kit.reader });
      expect([200, 400], value).to.include(status);
      if (status === 200) expect(body.signals).to.equal([]);
    }
  });

  it('reads times that plugins hand in as one moment, and refuses those that are none', async () => {
    const evidence = [{ source_url: 'https://example.org/agenda', published_at: '2026-02-20' }];
    await kit.publish({ title: 'elsewhere', places: ['times,atall'], detected_at: '2026-02-20T23:30:00-05:00', occurred_at: '2026-02-21', evidence });
    const [signal] = (await kit.snapshot('place=times,atall')).signals;
    expect([signal.detected_at, signal.occurred_at, signal.evidence[0].published_at]).to.equal(['2026-02-21T04:30:00.000Z', '2026-02-21T00:00:00.000Z', '2026-02-20T00:00:00.000Z']);
    for (const occurred_at of ['2026-02', '2026-02-20T18:00:00', '2026-02-30', 'soon']) await expect(kit.publish({ title: 'no time', occurred_at }), occurred_at).to.reject();
    expect(await found('place=times,atall')).to.equal(['elsewhere']);
  });
});
