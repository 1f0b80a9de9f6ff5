import { definePlugin } from 'civic';
import { siteOptions, type SiteConfig } from './config.ts';
import { crawlerRoutes } from './crawlers/routes.ts';
import { finderPart } from './finder.ts';
import { createSite } from './site.ts';
import { aboutPage } from './pages/about.ts';
import { mapPages } from './pages/map.ts';
import { actorPages } from './pages/actors.ts';
import { historyPages } from './pages/history.ts';
import { issuePages } from './pages/issues.ts';
import { sourcePages } from './pages/sources.ts';
import { homePage } from './pages/home.ts';
import { searchPage } from './pages/search.ts';
import { suggestRoute } from './suggest.ts';
import { placePages } from './pages/place.ts';
import { placesPage } from './pages/places.ts';

const FOOTER = [
  { text: 'navigation.about', path: '/about' },
  { text: 'footer.corrections', path: '/about#corrections' },
  { text: 'footer.data', path: '/about#data' },
  { text: 'footer.privacy', path: '/about#privacy' },
];

export default definePlugin<SiteConfig>({
  name: 'site',
  summary: 'The public site: pages for people to search and read the directory',
  needs: ['directory'],
  uses: ['accounts', 'firehose'],
  config: siteOptions,
  paths: {
    '/': { audience: 'people' },
    '/places': { audience: 'people' },
    '/issues': { audience: 'people' },
    '/domains': { audience: 'people' },
    '/map': { audience: 'people' },
    '/about': { audience: 'people' },
    '/robots.txt': { audience: 'people', languages: false, crawlers: false },
    '/sitemap.xml': { audience: 'people', languages: false, crawlers: false },
    '/sitemap': { audience: 'people', languages: false, crawlers: false },
    '/actors': { audience: 'people' },
    '/sources': { audience: 'people' },
    '/search': { audience: 'people', crawlers: false },
    '/suggest': { audience: 'people', crawlers: false },
  },

  slots: {
    'site.entry': { summary: 'Below the history of an entry' },
    'site.place': { summary: 'At the end of the page of a place' },
    'site.source': { summary: 'Below what was read in a source' },
    'site.corrections': { summary: 'How to report mistakes, on the page about the instance' },
  },

  register(server, civic) {
    const site = createSite(civic);
    site.directory.links.declare({ actor: (id) => `/actors/${id}`, source: (id) => `/sources/${id}`, place: (key) => `/places/${key}`, issueArea: (slug) => `/issues/${slug}`, search: (query) => `/search${query && `?${query}`}` });
    civic.pages.navigation({ text: 'navigation.places', path: '/places', order: 10 });
    civic.pages.navigation({ text: 'navigation.issues', path: '/issues', order: 20 });
    civic.pages.navigation({ text: 'navigation.about', path: '/about', order: 40 });
    for (const [index, { text, path }] of FOOTER.entries()) civic.pages.navigation({ text, path, in: 'footer', order: index });
    civic.pages.header(finderPart);
    server.route([
      homePage(site),
      searchPage(site),
      suggestRoute(site),
      placesPage(site),
      ...placePages(site),
      ...issuePages(site),
      ...mapPages(site),
      aboutPage(site),
      ...crawlerRoutes(server, site),
      ...actorPages(site),
      ...historyPages(site),
      ...sourcePages(site),
    ]);
  },
});
