import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Document } from '../types.ts';
import { pdfOf, startReader, type ReaderKit } from './kit.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const PAGE = `<!doctype html><html lang="en_US"><head><title>Council &amp; board</title><base href="/council/">
<meta property="og:site_name" content="City of Heron"><meta name="description" content="Who meets when"><link rel="canonical" href="https://city.example/council">
<link rel="alternate" type="application/rss+xml" title="News" href="/rss"><style>p { color: red }</style><script>let hidden = 1;</script></head>
<body><nav><ul><li><a href="/">Home</a></li><li><a href="/about">About</a></li></ul></nav>
<main><h1>Meetings</h1><p>The council meets <b>twice</b> a month.<br>All   are
welcome.</p><div style="display:none">Secret</div>
<div class="card"><h3>Ada Ruiz</h3><p>Mayor</p></div><div class="card"><h3>Ben Ochoa</h3><p>Clerk</p></div>
<table><caption>Dates</caption><tr><th>Date<th>Body<th>Agenda</tr><tr><td rowspan=2><time datetime="2026-05-04">May 4</time><td>Council<td><a href="a.pdf">Agenda</a></tr><tr><td>Board<td></td></tr></table>
<a href="javascript:x()">No link</a> <a href="mailto:clerk@city.example"><img alt="Write us" src="x.png"></a> <a href="/cal.ics">Calendar</a></main><footer>Imprint</footer></body></html>`;

describe('A page', () => {
  let reader: ReaderKit;
  before(async () => { reader = await startReader(); });
  after(() => reader.close());

  it('has its head, visible text, and links with absolute addresses', async () => {
    const page = await reader.read(PAGE);
    expect(page).to.include({ kind: 'html', title: 'Council & board', language: 'en-us', site_name: 'City of Heron', description: 'Who meets when', canonical_url: 'https://city.example/council', truncated: false, is_script_page: false, login_wall: false });
    expect(page.text.split('\n').slice(0, 5)).to.equal(['Home', 'About', 'Meetings', 'The council meets twice a month.', 'All are welcome.']);
    expect(page.text).to.not.contain('Secret').and.to.not.contain('hidden').and.to.not.contain('color');
    expect(page.links.map(({ url, text }) => [url, text])).to.equal([
      ['https://city.example/', 'Home'], ['https://city.example/about', 'About'], ['https://city.example/council/a.pdf', 'Agenda'], ['mailto:clerk@city.example', 'Write us'], ['https://city.example/cal.ics', 'Calendar'],
    ]);
    expect(page.feeds).to.equal([{ url: 'https://city.example/rss', title: 'News', type: 'application/rss+xml' }, { url: 'https://city.example/cal.ics', title: 'Calendar', type: 'text/calendar' }]);
  });

  it('has ranges that are ranges of its text', async () => {
    const { text, blocks, links, tables, main } = await reader.read(PAGE);
    for (const range of [...blocks, ...links.filter(({ start, end }) => end > start), ...tables.flatMap(({ rows }) => rows.flatMap(({ cells }) => cells))]) expect(text.slice(range.start, range.end)).to.equal(range.text);
    const content = text.slice(main!.start, main!.end);
    expect(content.startsWith('Meetings\n')).to.be.true();
    expect(content).to.not.contain('Imprint').and.to.not.contain('Home');
  });

  it('has its main content also inside a form or an element that is named after a menu', async () => {
    const words = '<p>The board decided on the budget of the library and of the pools.</p>'.repeat(5);
    for (const [before, after] of [['<body class="one-sidebar menu-contact">', '</body>'], ['<body><form id=aspnetForm>', '</form></body>'], ['<body><div class="page has-header menu"><div>', '</div></div></body>']]) {
      const { text, main } = await reader.read(`<html>${before}<div class="nav"><a href="/">Home</a> Menu</div><div id=content>${words}</div><div class=footer>Imprint</div>${after}<i>End</i></html>`);
      expect(text.slice(main!.start, main!.end), before).to.match(/^The board[^]*pools\.$/).and.to.not.contain('Imprint');
    }
  });

  it('has repeated cards as items of a group, and times of blocks', async () => {
    const { blocks } = await reader.read(PAGE);
    const find = (text: string) => blocks.find((block) => block.text === text)!;
    const [ada, mayor, ben, clerk] = ['Ada Ruiz', 'Mayor', 'Ben Ochoa', 'Clerk'].map(find);
    expect(ada!.group).to.be.a.number().and.to.equal(ben!.group);
    expect([ada!.item, ben!.item]).to.equal([mayor!.item, clerk!.item]);
    expect(ada!.item).to.not.equal(ben!.item);
    expect(ada!.classes).to.include('card');
    expect(find('May 4').time).to.equal('2026-05-04');
    expect(find('Meetings').group).to.be.null();
  });

  it('has tables with a header, in which cells that span rows are repeated', async () => {
    const { tables } = await reader.read(PAGE);
    expect(tables).to.have.length(1);
    expect(tables[0]).to.include({ caption: 'Dates', header: ['Date', 'Body', 'Agenda'] });
    expect(tables[0]!.rows.map(({ cells }) => cells.map(({ text }) => text))).to.equal([['May 4', 'Council', 'Agenda'], ['May 4', 'Board', '']]);
    expect(tables[0]!.rows[0]!.cells[2]!.links[0]!.url).to.equal('https://city.example/council/a.pdf');
  });

  it('says when only a browser could show it, and when it asks for a password', async () => {
    expect((await reader.read('<html><body><div id=app></div><script src="/app.js"></script></body></html>')).is_script_page).to.be.true();
    expect((await reader.read('<html><body><script type="application/ld+json">{"a":1}</script>Closed.</body></html>')).is_script_page).to.be.false();
    expect((await reader.read('<form>Sign in<input name=u><input type=password></form>')).login_wall).to.be.true();
    expect((await reader.read(`<form>Sign in<input type=password></form>${'<p>The council has decided.</p>'.repeat(100)}`)).login_wall).to.be.false();
  });

  it('has the same items in each syntax', async () => {
    const event = { name: ['Hearing'], startDate: ['2026-05-04T18:00'], location: [{ types: ['Place'], id: null, properties: { name: ['City hall'] } }] };
    const jsonLd = await reader.read(`<script type="application/ld+json">// <![CDATA[
      {"@context":"https://schema.org","@graph":[{"@type":"Event","@id":"#1","name":"Hearing","startDate":"2026-05-04T18:00","location":{"@type":"http://schema.org/Place","name":"City
 hall",},}]} //]]></script>`);
    expect(jsonLd.items[0]).to.equal({ syntax: 'json-ld', types: ['Event'], id: '#1', properties: { ...event, location: [{ types: ['Place'], id: null, properties: { name: ['City\n hall'] } }] } });
    const microdata = await reader.read('<div itemscope itemtype="https://schema.org/Event"><b itemprop=name>Hearing</b><time itemprop=startDate datetime="2026-05-04T18:00">Monday</time><i itemprop=location itemscope itemtype="http://schema.org/Place"><i itemprop=name>City\n hall</i></i></div>');
    expect(microdata.items).to.equal([{ syntax: 'microdata', types: ['Event'], id: null, properties: event }]);
    const rdfa = await reader.read('<div vocab="http://schema.org/" typeof="Event"><b property=name>Hearing</b><time property=startDate datetime="2026-05-04T18:00">Monday</time><i property=location typeof=Place><i property=name>City hall</i></i></div>');
    expect(rdfa.items).to.equal([{ syntax: 'rdfa', types: ['Event'], id: null, properties: event }]);
    const microformats = await reader.read('<div class=vevent><b class=summary>Hearing</b> <i class="dtstart" title="2026-05-04T18:00">x</i></div>');
    expect(microformats.items).to.equal([{ syntax: 'microformats', types: ['h-event'], id: null, properties: { name: ['Hearing'], start: ['x'] } }]);
    const openGraph = await reader.read('<meta property="og:type" content=article><meta property="og:image" content="/a.png">');
    expect(openGraph.items).to.equal([{ syntax: 'opengraph', types: ['article'], id: null, properties: { 'og:type': ['article'], 'og:image': ['https://city.example/a.png'] } }]);
  });

  it('with a base or links that are no addresses is read all the same', async () => {
    const page = await reader.read('<base href="http://["><p class=vcard><a class="fn url" href="http://[">Ada</a> <a href="/x">Ben</a></p><script type="application/ld+json">{"@type":"Person","name":"Cy"}</script>');
    expect(page.text).to.equal('Ada Ben');
    expect(page.links.map(({ url }) => url)).to.equal(['https://city.example/x']);
    expect(page.items.map(({ syntax }) => syntax)).to.include('json-ld');
  });

  it('has the charset and the kind of its content, where the content type is wrong', async () => {
    expect((await reader.read(Buffer.from('<meta charset=iso-8859-1><p>Caf\xe9', 'latin1'))).text).to.equal('Café');
    expect((await reader.read(Buffer.from('\ufeff<p>Café', 'utf16le'), { content_type: '' })).text).to.equal('Café');
    const kinds: [body: string, type: string, kind: Document['kind']][] = [
      ['BEGIN:VCALENDAR\nEND:VCALENDAR', 'text/html', 'calendar'], ['<?xml version="1.0"?>\n<rss version="2.0"><channel><title>a</title><item><title>b</title></item></channel></rss>', 'text/html', 'feed'], ['{"a": 1}', 'text/html', 'json'], ['{"a": 1}', 'text/plain', 'json'],
      ['<?xml version="1.0"?><meetings/>', 'text/plain', 'xml'], ['<!-- x --><!DOCTYPE html><p>x', 'application/json', 'html'], ['\x89PNG\0\0', 'text/html', 'other'], ['Plain words', 'text/plain', 'text'], ['Words <b>bold</b>', 'text/html; charset=utf-8', 'html'],
    ];
    for (const [body, type, kind] of kinds) expect((await reader.read(Buffer.from(body, 'latin1'), { content_type: type })).kind, body).to.equal(kind);
  });

  it('of a feed has the entries with plain text, in every format', async () => {
    const rss = await reader.read('<rss version="2.0"><channel><title>News</title><link>https://city.example/</link><item><title>Vote &amp;amp; tax</title><link>/1</link><guid>1</guid><pubDate>Mon, 04 May 2026 18:00:00 -0500</pubDate><description>&lt;p&gt;Passed&lt;/p&gt;&lt;p&gt;6 to 3&lt;/p&gt;</description><enclosure url="/a.pdf" type="application/pdf" length="1"/></item></channel></rss>', { content_type: 'application/rss+xml' });
    expect(rss.feed).to.include({ format: 'rss', title: 'News', url: 'https://city.example/' });
    expect(rss.feed!.entries[0]).to.include({ id: '1', url: 'https://city.example/1', title: 'Vote & tax', text: 'Passed 6 to 3', published: '2026-05-04T23:00:00.000Z', enclosures: [{ url: 'https://city.example/a.pdf', type: 'application/pdf' }] });
    expect(rss.text.slice(rss.feed!.entries[0]!.start, rss.feed!.entries[0]!.end)).to.equal('Vote & tax\nPassed 6 to 3');
    const atom = await reader.read('<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><id>x</id><updated>2026-05-04T18:00:00Z</updated><entry><id>e</id><title type="html">A&lt;b&gt;B&lt;/b&gt;</title><updated>2026-05-04T18:00:00Z</updated><link rel="alternate" href="/2"/><summary>Short</summary></entry></feed>', { content_type: 'text/xml' });
    expect(atom.feed!.entries[0]).to.include({ id: 'e', url: 'https://city.example/2', title: 'AB', text: 'Short', updated: '2026-05-04T18:00:00.000Z' });
    const json = await reader.read('{"version":"https://jsonfeed.org/version/1.1","title":"News","items":[{"id":"1","url":"https://city.example/3","content_html":"<p>Hi</p>","date_published":"2026-05-04T18:00:00Z"}]}', { content_type: 'application/json' });
    expect(json.feed!.entries[0]).to.include({ id: '1', url: 'https://city.example/3', text: 'Hi', published: '2026-05-04T18:00:00.000Z' });
    expect(json.body).to.contain('jsonfeed.org');
  });

  it('of a PDF has lines and pages, with text that is printed twice folded', async () => {
    const pdf = await reader.read(pdfOf([['Board meeting', 50, 700], ['Board meeting', 50.3, 700], ['AAggeennddaa 11', 50, 650], ['Room 11', 50, 600]]), { content_type: 'text/html' });
    expect(pdf).to.include({ kind: 'pdf', text: 'Board meeting\nAgenda 1\nRoom 11', truncated: false });
    expect(pdf.pages).to.equal([{ start: 0, end: pdf.text.length }]);
    expect(pdf.blocks.map(({ tag }) => tag)).to.equal(['line', 'line', 'line']);
  });
});
