import { definePlugin } from 'civic';
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
  problems: { ...taxonomyProblems },

  register(server, civic) {
    let opened: Taxonomy | null = null;
    const taxonomy = () => (opened ??= openTaxonomy(civic.config.taxonomy_file));
    const counts = async (): Promise<IssueAreaCounts> => ({ version: 0, bySlug: new Map() });

    civic.check(taxonomyCheck(taxonomy, async () => (await counts()).bySlug));
    server.route(taxonomyRoutes({ taxonomy, counts, version: civic.instance.version }));

    return { async start() { taxonomy(); } };
  },
});
