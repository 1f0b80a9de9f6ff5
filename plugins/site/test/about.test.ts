import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { siteKit, type SiteKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('The page about an instance', () => {
  let plain: SiteKit;
  let named: SiteKit;
  before(async () => {
    plain = await siteKit();
    const site = { about: 'For all of <Harbour> Town.\n\nSince 2026.', operator: 'Harbour Town Library', contact: 'civic@example.org', licence: 'https://creativecommons.org/licenses/by/4.0/' };
    named = await siteKit({ config: { plugins: { site } } });
  });
  after(async () => {
    await plain.close();
    await named.close();
  });

  it('names the operator, the contact and the licence of the data', async () => {
    const { status, text } = await named.open('/about');
    expect(status).to.equal(200);
    expect(text).to.contain(['run by Harbour Town Library', 'href="mailto:civic@example.org"', 'href="https://creativecommons.org/licenses/by/4.0/"', '<p>For all of &lt;Harbour&gt; Town.</p>', '<p>Since 2026.</p>']);
    expect(JSON.parse(/<script type="application\/ld\+json">(.+?)<\/script>/.exec(text)![1]!)).to.include({ '@type': 'AboutPage', publisher: { '@type': 'Organization', name: 'Harbour Town Library' } });
  });

  it('states when the operator gave no name and no licence', async () => {
    const { text } = await plain.open('/about');
    expect(text).to.contain(['has not given a name', 'has not named a licence']);
    expect(text).to.not.contain('mailto:');
    expect((await plain.open('/es/about')).text).to.contain(['Acerca de', 'no ha indicado su nombre']);
  });

  it('has the anchors that the footer of every page links', async () => {
    const { text } = await plain.open('/issues');
    const links = [...text.matchAll(/href="\/about#([a-z]+)"/g)].map(([, anchor]) => anchor!);
    expect(links).to.equal(['corrections', 'data', 'privacy']);
    const about = (await plain.open('/about')).text;
    for (const anchor of [...links, 'entry', 'statement', 'freshness']) expect(about).to.contain(` id="${anchor}"`);
  });

  it('is true about cookies and other sites', async () => {
    for (const path of ['/', '/about', '/issues', '/map', '/docs']) {
      const { headers, text } = await plain.open(path);
      expect(headers['set-cookie'], path).to.be.undefined();
      expect(headers['content-security-policy']).to.contain("default-src 'none'");
      expect(text.match(/<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc="(?!\/)/g), path).to.be.null();
      expect(text.match(/<link rel="(?:stylesheet|icon|preload)" href="(?!\/)/g), path).to.be.null();
    }
  });
});
