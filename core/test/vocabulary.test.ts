import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { definePlugin, type Plugin } from '../plugin.ts';
import { testServer } from '../testing.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const plugin = (name: string, more: Partial<Plugin>): Plugin => definePlugin({ name, summary: 'For tests', register: () => undefined, ...more });
const composed = (...plugins: Plugin[]) => testServer({ plugins, open: false });
const described = { description: 'A route', validate: { query: Joi.object({}) }, response: { schema: Joi.any() } };
const withRoute = (path: string, options: object, more: Partial<Plugin> = {}) => plugin('herons', { ...more, register: (server) => server.route({ method: 'GET', path, options, handler: () => 'ok' }) });

describe('The declarations of a plugin', () => {
  it('are rejected when a name has another form, or belongs to core', () => {
    const rejected: [Partial<Plugin>, RegExp][] = [
      [{ scopes: { 'Herons.Read': { label: 'x' } } }, /"Herons\.Read" in scopes: use words in lower case like notes:read/],
      [{ limits: { 'heron-counts': { label: 'x', doc: 'x' } } }, /"heron-counts" in limits: use words in snake_case/],
      [{ rates: { stream: { label: 'x', per_minute: 1, per_hour: 1 } } }, /the rate class "stream" belongs to core/],
      [{ paths: { '/docs': { audience: 'people' } } }, /the path "\/docs" belongs to core/],
      [{ paths: { '/herons/nests': { audience: 'people' } } }, /use the first part of a path like \/notes, or \//],
      [{ slots: { 'accounts.usage': { summary: 'x' } } }, /the slot "accounts\.usage" does not start with "herons\."/],
      [{ limits: { constructor: { label: 'x', doc: 'x' } } }, /"constructor" in limits: every object in JavaScript has a member of that name/],
      [{ capabilities: { herons: { label: 'x', limit: 'counts' } } }, /the capability "herons" names the limit "counts", which the plugin does not declare/],
    ];
    for (const [declared, words] of rejected) expect(() => plugin('herons', declared)).to.throw(words);
  });

  it('are rejected when a value has another form, in the name of their plugin', () => {
    const rejected: [object, RegExp][] = [
      [{ scopes: { 'herons:read': { label: '' } } }, /^The plugin herons has an invalid declaration: "herons:read" in scopes: "label" is not allowed to be empty/],
      [{ scopes: { 'herons:read': { label: 'x', hint: '' } } }, /"hint" is not allowed to be empty/],
      [{ scopes: { 'herons:read': { label: 'x', role: 'emperor' } } }, /"role" must be one of \[reviewer, admin\]/],
      [{ limits: { counts: { label: 'x', doc: 'x', plans: { team: 1e308 } } } }, /"counts" in limits: "plans\.team" must be/],
      [{ limits: { counts: { label: 'x', doc: 'x', plans: { team: -5 } } } }, /"plans\.team" must be greater than or equal to 0/],
      [{ limits: { counts: { label: 'x', plans: { team: 5 } } } }, /"doc" is required/],
      [{ rates: { heavy: { label: 'x', per_minute: 0, per_hour: 1 } } }, /"heavy" in rates: "per_minute" must be greater/],
      [{ paths: { '/herons': { audience: 'birds' } } }, /"audience" must be one of \[people, programs\]/],
      [{ capabilities: { herons: null } }, /"herons" in capabilities: "value" must be of type object/],
    ];
    for (const [declared, words] of rejected) expect(() => plugin('herons', declared as Partial<Plugin>)).to.throw(words);
  });

  it('name only capabilities and rate classes that are declared', async () => {
    await expect(composed(plugin('herons', { scopes: { 'herons:read': { label: 'Read counts', capability: 'birds' } } }))).to.reject(/the scope "herons:read" names the capability "birds", which no plugin that runs declares/);
    await expect(composed(plugin('herons', { paths: { '/herons': { audience: 'people', rate: 'heavy' } } }))).to.reject(/the path "\/herons" names the rate class "heavy"/);
    await composed(plugin('herons', { paths: { '/herons': { audience: 'people', rate: 'heavy' } }, rates: { heavy: { label: 'x', per_minute: 1, per_hour: 1 } } }));
  });

  it('have one owner each', async () => {
    const scopes = { 'birds:read': { label: 'Read birds' } };
    await expect(composed(plugin('herons', { scopes }), plugin('egrets', { scopes }))).to.reject(/egrets and herons both declare the scope "birds:read"/);
    const paths = { '/birds': { audience: 'people' as const } };
    await expect(composed(plugin('herons', { paths }), plugin('egrets', { paths }))).to.reject(/both declare the path "\/birds"/);
  });

  it('are what all plugins read together', async () => {
    let read: string[] = [];
    const reader = plugin('reader', { register: (_server, { vocabulary }) => { read = [...vocabulary.scopes].map(([scope, { label, plugin: owner }]) => `${owner}: ${scope} (${label})`); } });
    await composed(reader, plugin('herons', { scopes: { 'herons:read': { label: 'Read counts' } } }));
    expect(read).to.equal(['herons: herons:read (Read counts)']);
  });

  it('decide the options of a plugin that asks for it', async () => {
    const rates = { heavy: { label: 'heavy work', per_minute: 3, per_hour: 30 } };
    const reader = plugin('reader', { config: (vocabulary) => Object.fromEntries([...vocabulary.rates].map(([name, kind]) => [name, { doc: 'A limit.', format: 'nat', default: kind.per_minute }])) });
    const config = { plugins: { reader: { heavy: 5 } } };
    const { composition } = await testServer({ plugins: [reader, plugin('herons', { rates })], config, open: false });
    expect(composition.config.plugins['reader']!['heavy']).to.equal(5);
    await expect(testServer({ plugins: [reader], config, open: false })).to.reject(/heavy/);
  });
});

describe('A route', () => {
  it('asks only for scopes, capabilities and rate classes that are declared', async () => {
    const access = (scope: string) => ({ ...described, auth: { mode: 'required' as const, access: { scope: [scope] } } });
    await expect(composed(withRoute('/api/herons', access('herons:read')))).to.reject(/asks for the scope "herons:read", which no plugin that runs declares/);
    await composed(withRoute('/api/herons', access('herons:read'), { scopes: { 'herons:read': { label: 'Read counts' } } }));
    await expect(composed(withRoute('/api/herons', { ...described, auth: { mode: 'required' }, plugins: { civic: { plan: 'herons' } } }))).to.reject(/asks for the capability "herons"/);
    await expect(composed(withRoute('/api/herons', { ...described, plugins: { civic: { rate: 'heavy' } } }))).to.reject(/names the rate class "heavy"/);
  });

  it('is under a path that its own plugin declares, or that another one shares', async () => {
    const page = { plugins: { civic: { internal: true } } };
    const egrets = (shared: boolean) => plugin('egrets', { paths: { '/birds': { audience: 'people', shared } } });
    await expect(composed(withRoute('/birds/herons', page))).to.reject(/is under \/birds, which its plugin does not declare: add '\/birds' to its paths/);
    await expect(composed(withRoute('/birds/herons', page), egrets(false))).to.reject(/is under \/birds, which the plugin egrets declares and does not share/);
    await composed(withRoute('/birds/herons', page), egrets(true));
    await composed(withRoute('/.well-known/herons', page));
  });
});

describe('A page slot', () => {
  const owner = plugin('owner', { slots: { 'owner.footer': { summary: 'At the end' } } });
  const filling = (slot: string, more: Partial<Plugin> = {}) => plugin('filler', { ...more, register: (_server, civic) => civic.pages.fill(slot, { partial: 'filler/part', load: () => ({}) }) });

  it('is filled by plugins that use its owner, and ignored while the owner is off', async () => {
    await composed(owner, filling('owner.footer', { uses: ['owner'] }));
    await composed(filling('owner.footer', { uses: ['owner'] }));
    await expect(composed(owner, filling('owner.footer'))).to.reject(/fills the page slot owner\.footer: add owner to its uses/);
    await expect(composed(owner, filling('owner.header', { uses: ['owner'] }))).to.reject(/fills the page slot owner\.header, which owner does not declare/);
  });
});
