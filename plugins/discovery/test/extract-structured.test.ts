import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { namesOf, startExtraction, valuesOf, type Extraction } from './extract-kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('Extraction of actors from structured data', () => {
  let kit: Extraction;
  before(async () => { kit = await startExtraction(); });
  after(() => kit.close());

  it('reads JSON-LD with mistakes, and leaves out what the page does not show', async () => {
    const { document, actors } = await kit.extract(`<title>Delta Legal Aid</title>
      <script type="application/ld+json">{"@context":"https://schema.org","@type":"NGO","name":"Delta Legal Aid","telephone":"+1-816-555-0199","email":"hidden@delta.example","url":"https://delta.example/","sameAs":["https://twitter.com/deltalegal"],
        "employee":{"@type":"Person","name":"Amara Osei","jobTitle":"Staff Attorney","worksFor":{"@type":"Organization","name":"Delta Legal Aid"}},}</script>
      <script type="application/ld+json">[{"@type":"Organization","name":"Hidden Widgets LLC"},{"@type":"Person","name":"Delta"},{"@type":"Organization","name":{"broken":1}},{"@type":"Organization","name":"<b>Delta</b> Legal Aid"}]</script>
      <script type="application/ld+json">[{"@type":"Event","name":"Know your rights clinic","startDate":"2026-05-04T18:00:00-05:00","location":{"@type":"Place","name":"Grace Hall"}},
        {"@type":"Event","name":"Know your rights clinic","startDate":"2027-01-01"},{"@type":"Event","name":"Know your rights clinic","startDate":"soon"}]</script>
      <h1>Delta Legal Aid</h1><p>Call (816) 555-0199 or <a href="https://twitter.com/deltalegal">follow us</a>.</p><p>Amara Osei, Staff Attorney</p><p>Know Your Rights Clinic: Monday, May 4, 2026 in Grace Hall</p>`);
    expect(namesOf(actors, 'organization')).to.equal(['Delta Legal Aid']);
    expect(namesOf(actors, 'person')).to.equal(['Amara Osei']);
    const aid = actors.find(({ type }) => type === 'organization')!;
    expect(aid.method).to.equal('structured');
    expect(aid.claims.map(({ property, value, start, end }) => [property, value, document.text.slice(start, end)])).to.equal([
      ['name', 'Delta Legal Aid', 'Delta Legal Aid'], ['phone', '(816) 555-0199', '(816) 555-0199'], ['social', { network: 'twitter', url: 'https://twitter.com/deltalegal' }, 'follow us'],
    ]);
    expect(valuesOf(actors, 'Amara Osei', 'affiliation')).to.equal([{ entity_id: null, name: 'Delta Legal Aid', role: 'Staff Attorney', since: null, until: null }]);
    expect(actors.filter(({ type }) => type === 'event').length).to.equal(1);
    expect(valuesOf(actors, 'Know Your Rights Clinic', 'event_start')).to.equal(['2026-05-04T18:00:00-05:00']);
    expect(valuesOf(actors, 'Know Your Rights Clinic', 'event_location')).to.equal(['Grace Hall']);
  });

  it('reads microdata and cards of microformats', async () => {
    const { actors } = await kit.extract(`<div itemscope itemtype="https://schema.org/GovernmentOrganization"><span itemprop="name">Bluff County Water District</span> <span itemprop="telephone">555-010-0199</span></div>
      <div class="h-card"><span class="p-name">Ines Caro</span>, <span class="p-job-title">Hydrologist</span> at <span class="p-org">Bluff County Water District</span></div>
      <div class="vcard"><span class="fn org">Spring Hill Grange</span></div>`);
    expect(namesOf(actors, 'organization', 0.9)).to.equal(['Bluff County Water District', 'Spring Hill Grange']);
    expect(valuesOf(actors, 'Bluff County Water District', 'phone')).to.equal(['555-010-0199']);
    expect(valuesOf(actors, 'Ines Caro', 'affiliation')).to.equal([{ entity_id: null, name: 'Bluff County Water District', role: 'Hydrologist', since: null, until: null }]);
  });

  it('reads the events of a calendar, with names in plain text', async () => {
    const body = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'BEGIN:VEVENT', 'UID:1', 'DTSTART:20260504T230000Z', 'DTEND:20260505T010000Z', 'SUMMARY:<b>Zoning</b> hearing &amp\\; vote', 'LOCATION:<p>Town Hall</p>', 'END:VEVENT',
      'BEGIN:VEVENT', 'UID:2', 'DTSTART:20260505T180000Z', 'SUMMARY:Picnic', 'STATUS:CANCELLED', 'END:VEVENT', 'END:VCALENDAR', ''].join('\r\n');
    const { actors } = await kit.extract(body, { content_type: 'text/calendar' });
    expect(namesOf(actors, 'event')).to.equal(['Zoning hearing & vote']);
    expect(Date.parse(String(valuesOf(actors, 'Zoning hearing & vote', 'event_start')[0]))).to.equal(Date.UTC(2026, 4, 4, 23));
    expect(valuesOf(actors, 'Zoning hearing & vote', 'event_location')).to.equal(['Town Hall']);
  });
});
