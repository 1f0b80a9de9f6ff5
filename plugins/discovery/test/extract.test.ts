import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { DEFAULT_SCORE } from '../extract/extract.ts';
import { namesOf, startExtraction, valuesOf, type Extraction } from './extract-kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const affiliation = (name: string, role: string) => ({ entity_id: null, name, role, since: null, until: null });

describe('Extraction of actors from a page', () => {
  let kit: Extraction;
  before(async () => { kit = await startExtraction(); });
  after(() => kit.close());

  it('reads a staff grid: names, roles and contacts, and no label of the navigation', async () => {
    const { document, actors } = await kit.extract(`<title>Our staff | Harlow Ferry Tenants Union</title>
      <header><a href="https://hftu.example/">Harlow Ferry Tenants Union</a><nav><ul><li><a href="/about">About Us</a></li><li><a href="/staff">Our Staff</a></li><li><a href="/give">Donate Now</a></li></ul></nav></header>
      <main><h1>Our staff</h1><div class="staff-grid">
      <div class="card"><h3>Maria Delgado</h3><p>Executive Director</p><p><a href="mailto:maria@hftu.example">Email Maria</a></p></div>
      <div class="card"><h3>Tunde Adeyemi</h3><p>Housing Organizer</p><p>tunde@hftu.example<br>(816) 555-0134</p></div>
      <div class="card"><h3>Dr. Susan K. O'Neil</h3><p>Research Fellow</p></div></div></main>
      <footer><p>Harlow Ferry Tenants Union<br>412 Mill Street<br>Harlow Ferry, MO 64001</p><p>office@hftu.example<br>Fax: 816-555-0111</p><p><a href="https://www.facebook.com/hftu">Facebook</a> <a href="https://www.facebook.com/sharer?u=x">Share</a></p>
      <p>© 2026 Harlow Ferry Tenants Union. All rights reserved. EIN 43-1234567</p></footer>`);
    expect(namesOf(actors, 'person')).to.equal(['Maria Delgado', 'Susan K. O\'Neil', 'Tunde Adeyemi']);
    expect(namesOf(actors, 'organization', 0)).to.equal(['Harlow Ferry Tenants Union']);
    const union = 'Harlow Ferry Tenants Union';
    expect(valuesOf(actors, 'Maria Delgado', 'affiliation')).to.equal([affiliation(union, 'Executive Director')]);
    expect(valuesOf(actors, 'Maria Delgado', 'email')).to.equal(['maria@hftu.example']);
    expect(valuesOf(actors, 'Tunde Adeyemi', 'phone')).to.equal(['(816) 555-0134']);
    expect(valuesOf(actors, 'Susan K. O\'Neil', 'email')).to.equal([]);
    for (const [property, values] of Object.entries({
      email: ['office@hftu.example'], phone: [], website: ['https://hftu.example/'], identifier: [{ scheme: 'ein', value: '43-1234567' }], social: [{ network: 'facebook', url: 'https://www.facebook.com/hftu' }],
    })) expect(valuesOf(actors, union, property), property).to.equal(values);
    const role = actors.find(({ name }) => name === 'Maria Delgado')!.claims.find(({ property }) => property === 'affiliation')!;
    expect(document.text.slice(role.start, role.end)).to.equal('Executive Director');
  });

  it('reads a table of a board, whose header names the columns', async () => {
    const { actors } = await kit.extract(`<title>Board of Trustees - Tamarack Public Library</title><h1>Board of Trustees</h1>
      <table><tr><th>Name</th><th>Position</th><th>Term ends</th><th>E-mail</th></tr><tr><td>Priya Raman</td><td>President</td><td>2027</td><td>praman@library.example</td></tr>
      <tr><td>Oskar Lindqvist</td><td>Vice President</td><td>2026</td><td></td></tr><tr><td>Ngozi Eze</td><td>Member</td><td>2028</td><td></td></tr></table><p>Tamarack Public Library, 12 Elm Street, Tamarack</p>`);
    expect(namesOf(actors, 'person')).to.equal(['Ngozi Eze', 'Oskar Lindqvist', 'Priya Raman']);
    expect(namesOf(actors, 'organization')).to.include('Tamarack Public Library');
    expect(valuesOf(actors, 'Oskar Lindqvist', 'affiliation')).to.equal([affiliation('Tamarack Public Library', 'Vice President')]);
    expect(valuesOf(actors, 'Priya Raman', 'email')).to.equal(['praman@library.example']);
  });

  it('decides by the list whether roles are above or below names', async () => {
    const people = [['Grace Ito', 'President'], ['Karl Weber', 'Treasurer'], ['Nora Quist', 'Secretary']];
    for (const order of [people, people.map((pair) => pair.toReversed())]) {
      const { actors } = await kit.extract(`<title>Board | Elm Park Alliance</title><h1>Elm Park Alliance</h1>${order.flat().map((line) => `<div>${line}</div>`).join('')}<p>© Elm Park Alliance</p>`);
      for (const [name, role] of people) expect(valuesOf(actors, name!, 'affiliation'), order[0]![0]).to.equal([affiliation('Elm Park Alliance', role!)]);
    }
  });

  it('removes offices before names, and takes no street or city for a person', async () => {
    const { actors } = await kit.extract(`<title>City Council | City of Harlow Ferry, Missouri</title><h1>Mayor and City Council</h1><p>Mayor Janet Okafor</p><p>Councilmember Luis Herrera, Ward 1</p>
      <p>City Clerk: Beth Nguyen</p><p>Visit us at Martin Luther Avenue, Grace Hall or Kansas City.<br>Dean Street<br>San Antonio</p><p>Copyright 2026 City of Harlow Ferry</p>`);
    expect(namesOf(actors, 'person')).to.equal(['Beth Nguyen', 'Janet Okafor', 'Luis Herrera']);
    expect(namesOf(actors, 'organization')).to.equal(['City of Harlow Ferry']);
    expect(valuesOf(actors, 'Janet Okafor', 'affiliation')).to.equal([affiliation('City of Harlow Ferry', 'Mayor')]);
    expect(valuesOf(actors, 'Beth Nguyen', 'affiliation')).to.equal([affiliation('City of Harlow Ferry', 'City Clerk')]);
  });

  it('finds names in sentences, with the organization that a sentence names', async () => {
    const { actors } = await kit.extract(`<h1>Tenants win</h1><p>The council voted on Monday to fund a right to counsel, said Denise Calloway, director of the Harlow Ferry Tenants Union. Mayor Janet Okafor opposed the bill.</p>
      <p>"This is a start," said the Rev. Thomas Greer. Riverside Properties LLC fought the bill, which the states of North Carolina and New York have passed already.</p>`);
    expect(namesOf(actors, 'person')).to.equal(['Denise Calloway', 'Janet Okafor', 'Thomas Greer']);
    expect(namesOf(actors, 'organization')).to.equal(['Harlow Ferry Tenants Union', 'Riverside Properties LLC']);
    expect(valuesOf(actors, 'Denise Calloway', 'affiliation')).to.equal([affiliation('Harlow Ferry Tenants Union', 'director')]);
    // A role without a known organization is what the page says about the person.
    expect(valuesOf(actors, 'Janet Okafor', 'description')).to.equal(['Mayor']);
  });

  it('finds organizations in lists of partners and members, and in no other list of links', async () => {
    const list = '<ul><li><a href="https://alliance.example/">Ozark Fair Housing Alliance</a></li><li><a href="https://aid.example/">Tamarack Legal Foundation</a></li></ul>';
    expect(namesOf((await kit.extract(`<main><h1>Our partners</h1>${list}</main>`)).actors, 'organization')).to.include(['Ozark Fair Housing Alliance', 'Tamarack Legal Foundation']);
    expect(namesOf((await kit.extract(`<main><h1>Links</h1>${list}</main>`)).actors, 'organization')).to.equal([]);
  });

  it('unites the ways in which a page writes a name', async () => {
    const { actors } = await kit.extract('<title>Juniper Growers</title><h1>Juniper Growers</h1><p>JUNIPER GROWERS<br>1 Farm Road<br>Tamarack, MO 64002</p><p>© 2026 Juniper Growers, Inc.</p><p>Ana Ruiz, Chair</p><p>ANA RUÍZ</p>');
    const organizations = actors.filter(({ type }) => type === 'organization');
    expect(organizations.length).to.equal(1);
    expect(valuesOf(actors, organizations[0]!.name, 'name')).to.only.include(['Juniper Growers', 'Juniper Growers, Inc.']);
    expect(actors.filter(({ type }) => type === 'person').length).to.equal(1);
  });

  it('finds initiatives and campaigns by their words', async () => {
    const { actors } = await kit.extract(`<h1>What we work on</h1><h2>Clean Rivers Initiative</h2><p>Join the Campaign for Fair Rents today. Vote Yes on Measure 3. The Safe Routes to School Initiative begins in May.</p>
      <p>Committee to Elect Rosa Parra</p><p>Lou Farrow for Mayor</p><p>Our capital campaign and our initiative are open.</p><p>Capital Campaign</p><p>Ballot Initiative</p>`);
    expect(namesOf(actors, 'initiative')).to.equal(['Clean Rivers Initiative', 'The Safe Routes to School Initiative']);
    expect(namesOf(actors, 'campaign')).to.equal(['Campaign for Fair Rents', 'Committee to Elect Rosa Parra', 'Lou Farrow for Mayor', 'Vote Yes on Measure 3']);
    expect(namesOf(actors, 'organization')).to.equal([]);
  });

  it('finds events: dates with a word for a meeting', async () => {
    const { document, actors } = await kit.extract(`<h1>City Council meetings</h1><ul><li>Regular meeting, March 2, 2026 at 6:00 pm, City Hall, Room 201</li><li>April 6, 2026 - Public hearing on the budget, 7 pm at the Tamarack Public Library</li>
      <li>Regular meeting, 4/20/2026</li><li>Monday, May 11, 2026, 6 pm</li><li>Offices closed March 9, 2026</li><li>Regular meeting on the first Monday</li><li>Special meeting February 30, 2026</li></ul>`);
    const events = actors.filter(({ type }) => type === 'event').map(({ name, claims }) => [name, ...claims.filter(({ property }) => property !== 'name').map(({ value }) => value)]).toSorted((one, other) => String(one[1]).localeCompare(String(other[1])));
    expect(events).to.equal([['Regular meeting', '2026-03-02', 'City Hall'], ['Public hearing on the budget', '2026-04-06', 'Tamarack Public Library'], ['Regular meeting', '2026-04-20'], ['City Council meetings', '2026-05-11']]);
    const start = actors.find(({ name }) => name === 'Public hearing on the budget')!.claims.find(({ property }) => property === 'event_start')!;
    expect(document.text.slice(start.start, start.end)).to.equal('April 6, 2026');
  });

  it('takes papers of meetings and headlines for no event, and no meeting for an organization', async () => {
    const { actors } = await kit.extract(`<title>Alder County Board Meeting Archives</title><h1>Alder County Board Meeting Archives</h1><ul><li>Meeting Minutes, March 2, 2020</li><li>Board meeting agenda - April 6, 2020</li></ul>
      <p>March 9, 2020: Mayor Opens The Long Awaited New Workshop For Apprentices At The Old Tram Depot</p>`);
    expect(namesOf(actors, 'event', 0)).to.equal([]);
    expect(namesOf(actors, 'organization')).to.equal([]);
  });

  it('reads a page in Spanish', async () => {
    const { actors } = await kit.extract(`<html lang="es"><title>Nuestro equipo | Centro Comunitario Río Verde</title><h1>Nuestro equipo</h1><ul><li>Guadalupe Hernández, Directora</li><li>José Luis Peña, Coordinador de Vivienda</li>
      <li>María de la Cruz Ortiz, Tesorera</li></ul><p>Reunión comunitaria: 14 de mayo de 2026, 6:30 p.m., Biblioteca Central</p><p>© 2026 Centro Comunitario Río Verde. Todos los derechos reservados.</p>`);
    expect(namesOf(actors, 'person')).to.equal(['Guadalupe Hernández', 'José Luis Peña', 'María de la Cruz Ortiz']);
    expect(namesOf(actors, 'organization')).to.equal(['Centro Comunitario Río Verde']);
    expect(valuesOf(actors, 'José Luis Peña', 'affiliation')).to.equal([affiliation('Centro Comunitario Río Verde', 'Coordinador de Vivienda')]);
    expect(valuesOf(actors, 'Reunión comunitaria', 'event_start')).to.equal(['2026-05-14']);
    expect(valuesOf(actors, 'Reunión comunitaria', 'event_location')).to.equal(['Biblioteca Central']);
  });

  it('finds nothing on a page of labels', async () => {
    const { actors } = await kit.extract('<title>Contact Us</title><nav><a href="/">Home</a> <a href="/a">About Us</a></nav><h1>Contact Us</h1><form><label>First Name</label><label>Last Name</label><p>Mailing Address</p><p>Customer Service</p><button>Send Message</button></form><p>All Rights Reserved</p>');
    expect(actors.filter(({ score }) => score >= DEFAULT_SCORE)).to.equal([]);
    expect((await kit.extract('')).actors).to.equal([]);
  });
});
