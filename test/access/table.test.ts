import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { bundledPlugins } from '../../core/load.ts';
import { testServer } from '../../core/testing.ts';
import { table } from './table.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('The table of who may do what', () => {
  it('has every route, and none that is not there', async () => {
    const kit = await testServer({ plugins: bundledPlugins(), open: false, config: { metrics: { enabled: true } } });
    const routes = kit.server.table().map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    await kit.close();
    expect(routes.filter((route) => !(route in table)), 'decide who may use these, and add them to test/access/table.ts').to.equal([]);
    expect(Object.keys(table).filter((route) => !routes.includes(route))).to.equal([]);
  });
});
