import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { bundledPlugins } from '../../core/load.ts';
import { createStand, type Stand } from './stand.ts';
import { table, WHO } from './table.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** What is somebody else's does not exist. */
const HIDDEN = ['unknown_actor', 'unknown_workspace', 'unknown_session'];

describe('Who may do what', { timeout: 240_000 }, () => {
  let stand: Stand;
  before(async () => { stand = await createStand(bundledPlugins()); });
  after(() => stand.kit.close());

  const routes = () => stand.kit.server.table().map(({ method, path }) => `${method.toUpperCase()} ${path}`);

  it('is written down for every route, and for none that is not there', () => {
    expect(routes().filter((route) => !(route in table)), 'decide who may use these, and add them to test/access/table.ts').to.equal([]);
    expect(Object.keys(table).filter((route) => !routes().includes(route))).to.equal([]);
  });

  for (const [route, cases] of Object.entries(table)) {
    it(`is kept by ${route}`, async () => {
      const [method, path] = route.split(' ') as [string, string];
      for (const asked of cases) {
        const seen: Record<string, string> = {};
        for (const who of WHO) {
          const { status, body, text } = await stand.ask(who, method, path, asked);
          if (status >= 500 || status === 429) throw new Error(`${who}: ${text}`);
          const code = typeof body === 'object' ? body.code as string | undefined : undefined;
          const isHidden = asked.params !== undefined && HIDDEN.includes(code ?? '');
          seen[who] = [401, 403].includes(status) || isHidden ? code ?? String(status) : 'in';
        }
        expect(seen, JSON.stringify(asked.params ?? asked.query ?? {})).to.equal(asked.outcomes);
      }
    });
  }
});
