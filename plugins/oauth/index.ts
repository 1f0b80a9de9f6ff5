import { definePlugin } from 'civic';
import { oauthChecks } from './checks.ts';
import { clientCommands } from './commands.ts';
import { oauthOptions, type OauthConfig } from './config.ts';
import { oauthEvents } from './events.ts';
import { oauthExamples } from './examples.ts';
import { AUDIT_KINDS } from './incidents.ts';
import { oauthJobs } from './jobs.ts';
import { metadataRoutes } from './metadata.ts';
import { appRoutes } from './pages/apps.ts';
import { connectPurpose, connectRoutes } from './pages/connect.ts';
import { deviceRoutes } from './pages/device.ts';
import { DEVICE_PATH } from './server/configuration.ts';
import { oauthErrors, recordFloods } from './server/errors.ts';
import { serverRoutes } from './server/mount.ts';
import { createOauth } from './service.ts';

export type { OauthService } from './service.ts';
export type { ProtectedPath } from './resources.ts';

const FLUSH_MS = 2000;

export default definePlugin<OauthConfig>({
  name: 'oauth',
  summary: 'An OAuth 2.1 authorization server: apps and assistants use the API on behalf of a user who approved them',
  reference: { title: 'OAuth', order: 40 },
  config: oauthOptions,
  needs: ['accounts'],
  rates: {
    oauth: { label: 'OAuth', per_minute: 600, per_hour: 20_000, byAddress: true },
    oauth_start: { label: 'authorizations and device codes', per_minute: 60, per_hour: 600, byAddress: true },
    oauth_registration: { label: 'registrations of apps', per_minute: 30, per_hour: 300, byAddress: true },
    oauth_device: { label: 'codes of devices', per_minute: 20, per_hour: 100, byAddress: true },
  },
  paths: {
    '/oauth': { audience: 'programs', rate: 'oauth', errors: oauthErrors, untimed: true },
    // The cookie of an authorization request belongs to the exact path.
    '/connect': { audience: 'people', languages: false, crawlers: false },
    '/device': { audience: 'people', crawlers: false },
  },
  events: oauthEvents,
  migrations: `${import.meta.dirname}/migrations`,

  register(server, civic) {
    const oauth = createOauth(civic, server);
    const { accounts, bearer, keys } = oauth;
    civic.provide(oauth.service);
    accounts.auditKinds(AUDIT_KINDS);
    accounts.credentials(bearer.callerOf);
    accounts.pages.entry({ plugin: 'oauth', label: 'apps.title', path: '/account/apps', remedy: 'apps.remedy' });
    accounts.pages.purpose(connectPurpose(oauth, oauth.server));
    accounts.pages.purpose({ path: DEVICE_PATH, describe: async (_next, language) => (await civic.texts(language))('device.purpose') });
    civic.examples(oauthExamples({ canRegister: civic.config.registration.enabled }));
    civic.identify(bearer.identify);
    civic.watch('oauth.keys_changed', keys.forget);
    recordFloods(server, oauth);
    server.route([...metadataRoutes(oauth), ...serverRoutes(oauth, oauth.server)]);
    server.route([...connectRoutes(oauth, oauth.server), ...deviceRoutes(oauth, oauth.server), ...appRoutes(oauth)]);
    for (const job of oauthJobs(oauth)) civic.jobs.define(job);
    for (const command of clientCommands(oauth)) civic.command(command);
    for (const check of oauthChecks(oauth)) civic.check(check);
    const flush = () => bearer.flush().catch((error: unknown) => { civic.log.error({ err: error }, 'The times at which connected apps were last used could not be stored'); });
    let flushing: NodeJS.Timeout | undefined;
    return {
      async start() {
        oauth.secret.load();
        flushing = setInterval(() => { void flush(); }, FLUSH_MS).unref();
      },
      async stop() {
        clearInterval(flushing);
        await flush();
      },
    };
  },
});
