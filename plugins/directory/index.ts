import { definePlugin } from 'civic';
import { placeProblems, placeRoutes } from './places/routes.ts';
import { bringGazetteerUpToDate, createPlaces, gazetteerCheck } from './places/service.ts';
import { taxonomyOptions } from './taxonomy/file.ts';
import { taxonomyProblems, taxonomyRoutes, type IssueAreaCounts } from './taxonomy/routes.ts';
import { openTaxonomy, taxonomyCheck, type Taxonomy } from './taxonomy/service.ts';

interface Config {
  taxonomy_file: string | null;
}

export default definePlugin<Config>({
  name: 'directory',
  summary: 'Civic actors in their places, every statement with its source',
  config: { ...taxonomyOptions },
  problems: { ...taxonomyProblems, ...placeProblems },
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    let opened: Taxonomy | null = null;
    const taxonomy = () => (opened ??= openTaxonomy(civic.config.taxonomy_file));
    const counts = async (): Promise<IssueAreaCounts> => ({ version: 0, bySlug: new Map() });

    const places = createPlaces(civic.url);

    civic.check(gazetteerCheck(() => civic.db));
    civic.check(taxonomyCheck(taxonomy, async () => (await counts()).bySlug));
    server.route(placeRoutes({ places, db: () => civic.db, version: civic.instance.version }));
    server.route(taxonomyRoutes({ taxonomy, counts, version: civic.instance.version }));

    return {
      async start() {
        taxonomy();
        await bringGazetteerUpToDate(civic.db);
      },
    };
  },
});
