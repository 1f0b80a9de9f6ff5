import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import type { SiteConfig } from '../config.ts';
import { createSite } from '../site.ts';
import { siteKit, type SiteKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('The cache of pages', () => {
  let kit: SiteKit;
  /** Runs between what a page reads and what it shows. */
  let meanwhile: () => Promise<unknown> = async () => undefined;
  const slow = definePlugin<SiteConfig>({
    name: 'slow',
    summary: 'A page that takes long to read',
    needs: ['directory'],
    uses: ['firehose'],
    paths: { '/slow': { audience: 'people' } },
    register(server, civic) {
      const site = createSite(civic);
      server.route(site.page({
        path: '/slow',
        async load() {
          const { total } = await site.directory.search('Gladstone', 1);
          await meanwhile();
          return { template: 'issues', context: { title: `${total} entries` } };
        },
      }));
    },
  });

  before(async () => { kit = await siteKit({ plugins: [slow, 'accounts'] }); });
  after(() => kit.close());

  it('does not store a page whose data changed while it was read', async () => {
    meanwhile = () => kit.add({ name: 'Gladstone Tenants Union', place: 'gladstone,missouri' });
    expect((await kit.open('/slow')).text).to.contain('0 entries');
    meanwhile = async () => undefined;
    expect((await kit.open('/slow')).text).to.contain('1 entries');
  });

  it('stores the same page for HEAD as for GET', async () => {
    await kit.request('HEAD', '/search?query=tenants', { headers: { accept: 'text/html' } });
    const { text } = await kit.open('/search?query=tenants');
    expect(text).to.contain(['href="/es/search?query&#x3D;tenants"', 'href="/sign-in?next=%2Fsearch%3Fquery%3Dtenants"']);
  });
});
