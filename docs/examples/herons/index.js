// @ts-check
import { definePlugin, fitData, fitText, Joi, problem, quoteText } from 'civic';
import { addReport, addToSite, countsAt, countsOf, hasCountSince, insertCount, pruneCounts, siteTotals } from './store.js';

const count = Joi.object({
  id: Joi.string().guid().required(),
  site: Joi.string().required(),
  birds: Joi.number().integer().required(),
  source_url: Joi.string().required(),
  counted_at: Joi.string().isoDate().required(),
}).meta({ name: 'HeronCount' });

const counts = Joi.object({ data: Joi.array().items(count).required() }).meta({ name: 'HeronCounts' });

const newCount = Joi.object({
  site: Joi.string().trim().min(1).max(80).required(),
  birds: Joi.number().integer().min(0).max(100_000).required(),
  source_url: Joi.string().uri({ scheme: ['http', 'https'] }).max(2000).required(),
});

const DAY_MS = 86_400_000;
/** After how many days without a count the console shows a warning. */
const QUIET_DAYS = 30;

export default definePlugin({
  name: 'herons',
  summary: 'Counts of herons, reported by accounts and published as signals',
  reference: { title: 'Herons' },
  config: {
    kept_days: { doc: 'After how many days a count is deleted; the totals stay.', format: 'nat', default: 365 },
  },
  uses: ['accounts', 'console', 'firehose'],
  scopes: { 'herons:write': { label: 'Report heron counts', capability: 'herons' } },
  limits: { heron_counts: { label: 'Heron counts a day', doc: 'How many heron counts an account can report a day', plans: { individual: 2, team: 100 } } },
  capabilities: { herons: { label: 'Heron counts', limit: 'heron_counts' } },
  rates: { counting: { label: 'counting herons', per_minute: 20, per_hour: 200 } },
  paths: { '/herons': { audience: 'people' } },
  problems: {
    heron_limit: { status: 409, title: 'No more counts today', advice: 'Report the next count tomorrow, or use a plan with a higher limit.' },
  },
  events: {
    'herons.counted': { summary: 'A count was reported', version: 1, payload: Joi.object({ site: Joi.string().required(), birds: Joi.number().integer().required() }) },
  },
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    const accounts = civic.serviceIfOn('accounts');
    const firehose = civic.serviceIfOn('firehose');

    firehose?.signalTypes('herons', {
      heron_count: {
        label: 'Heron count',
        icon: 'M4 17 L9 9 L9 4 L15 4 M9 9 L15 12 M9 13 L9 17',
        facts: Joi.object({ site: Joi.string().required().label('Site'), birds: Joi.number().integer().required().label('Herons') }),
      },
    });

    civic.on('herons.counted', (tx, { payload }) => addToSite(tx, payload.site, payload.birds));

    civic.jobs.define({
      name: 'herons.prune',
      every_seconds: 3600,
      run: (job) => job.write((tx) => pruneCounts(tx, new Date(civic.clock.now() - civic.config.kept_days * DAY_MS).toISOString())),
    });

    civic.command({
      name: 'herons report',
      summary: 'Print how many herons were counted at each site',
      needs: 'database',
      async run({ terminal }) {
        const sites = await siteTotals(civic.db.read);
        terminal.print(sites, () => sites.map(({ site, birds }) => `${site}: ${birds}`).join('\n') || 'No herons were counted yet.');
      },
    });

    let reports = 0;
    civic.serviceIfOn('console')?.series({ name: 'herons.counts', plugin: 'herons', label: 'console.counts', total: () => reports });
    civic.serviceIfOn('console')?.attention({
      plugin: 'herons',
      async load(language) {
        const since = new Date(civic.clock.now() - QUIET_DAYS * DAY_MS).toISOString();
        if (await hasCountSince(civic.db.read, since)) return [];
        const t = await civic.texts(language);
        return [{ title: t('console.quiet', { days: QUIET_DAYS }), advice: t('console.ask'), link: { label: t('list.title'), path: '/herons' } }];
      },
    });
    civic.pages.fill('console.sections', { partial: 'herons/console', load: async () => ({ sites: await siteTotals(civic.db.read) }) });

    civic.examples({
      'POST /api/herons': { body: { site: 'Kaw Point', birds: 12, source_url: 'https://herons.example/kaw-point' } },
    });

    civic.tool({
      name: 'list_heron_counts',
      title: 'List heron counts',
      description: 'Returns the latest heron counts, newest first, each with the URL of its source.',
      readOnly: true,
      destructive: false,
      input: Joi.object({ limit: Joi.number().integer().min(1).max(50).default(10).description('How many counts') }),
      output: counts,
      run: async ({ limit }, { maxBytes }) => {
        const latest = await countsOf(civic.db.read, limit);
        const lines = latest.map(({ site, birds, source_url }) => `- ${quoteText(site)}: ${birds} (${source_url})`);
        return { data: fitData({ data: latest }, maxBytes), text: fitText(lines) || 'No herons were counted yet.' };
      },
    });

    civic.resource({
      uri: 'civic://herons/{site}',
      name: 'heron_site',
      title: 'Heron site',
      description: 'The counts of one site with their sources, as JSON.',
      read: async ({ site }) => JSON.stringify({ data: await countsAt(civic.db.read, String(site).slice(0, 200)) }),
    });

    civic.prompt({
      name: 'compare_heron_sites',
      title: 'Compare heron sites',
      description: 'Which site has more herons, with sources',
      arguments: Joi.object({ sites: Joi.string().required().description('Names of sites') }),
      text: ({ sites }) => `Compare these sites with list_heron_counts: ${sites}. Cite the source of each count.`,
    });

    civic.pages.navigation({ label: 'Herons', path: '/herons' });
    server.route([
      {
        method: 'GET',
        path: '/api/herons',
        options: {
          description: 'The latest heron counts, newest first',
          validate: { query: Joi.object({}) },
          response: { schema: counts },
        },
        handler: async () => ({ data: await countsOf(civic.db.read) }),
      },
      {
        method: 'POST',
        path: '/api/herons',
        options: {
          description: 'Reports a heron count',
          auth: { mode: 'required', access: { scope: ['herons:write'] } },
          plugins: { civic: { plan: 'herons', rate: 'counting', problems: ['heron_limit'] } },
          validate: { query: Joi.object({}), payload: newCount },
          response: { status: { 201: count } },
        },
        handler: async (request, h) => {
          const { account_id, plan } = /** @type {any} */ (request.auth.credentials);
          const reported = /** @type {{ site: string, birds: number, source_url: string }} */ (request.payload);
          const counted_at = civic.clock.iso();
          const most = accounts?.limitOf(plan, 'heron_counts') ?? Infinity;
          const created = await civic.db.write(async (tx) => {
            if (await addReport(tx, account_id, counted_at.slice(0, 10)) > most) throw problem('heron_limit', { detail: `The plan ${plan} allows ${most} counts a day.` });
            const row = await insertCount(tx, { ...reported, account_id, counted_at });
            await civic.emit(tx, 'herons.counted', { site: row.site, birds: row.birds });
            await firehose?.publish(tx, [{
              type: 'heron_count',
              title: `${row.birds} herons at ${row.site}`,
              occurred_at: counted_at,
              source_class: 'organization_update',
              facts: { site: row.site, birds: row.birds },
              evidence: [{ source_url: row.source_url }],
            }]);
            return row;
          });
          reports++;
          return h.response(created).code(201);
        },
      },
      {
        method: 'GET',
        path: '/herons',
        options: { plugins: { civic: { internal: true } } },
        handler: async (request, h) => {
          const t = await civic.texts(request.civic.language);
          return h.view('herons/list', { title: t('list.title'), canonical: '/herons', counts: await countsOf(civic.db.read), sites: await siteTotals(civic.db.read) });
        },
      },
    ]);
  },
});
