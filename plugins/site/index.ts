import { definePlugin } from 'civic';
import { siteOptions, type SiteConfig } from './config.ts';
import { createSite } from './site.ts';
import { issuePages } from './pages/issues.ts';

export default definePlugin<SiteConfig>({
  name: 'site',
  summary: 'The public site: pages for people to search and read the directory',
  needs: ['directory'],
  uses: ['accounts', 'firehose'],
  config: siteOptions,
  paths: {
    '/issues': { audience: 'people' },
    '/domains': { audience: 'people' },
  },

  register(server, civic) {
    const site = createSite(civic);
    civic.pages.navigation({ text: 'navigation.issues', path: '/issues', order: 20 });
    server.route([
      ...issuePages(site),
    ]);
  },
});
