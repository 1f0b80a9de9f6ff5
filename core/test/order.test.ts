import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import fc from 'fast-check';
import { orderPlugins } from '../order.ts';
import { definePlugin, type Plugin } from '../plugin.ts';

export const lab = Lab.script();
const { describe, it } = lab;

function plugin(name: string, needs: string[] = [], uses: string[] = []): Plugin {
  return definePlugin({ name, summary: name, needs, uses, register: () => undefined });
}

describe('The order of plugins', () => {
  it('puts what is needed or used before what needs or uses it', () => {
    const { plugins, faults } = orderPlugins([plugin('flags', ['directory'], ['accounts']), plugin('accounts'), plugin('directory')]);
    expect(faults).to.equal([]);
    expect(plugins.map((one) => one.name)).to.equal(['directory', 'accounts', 'flags']);
  });

  it('keeps the order of the file where nothing speaks against it', () => {
    const { plugins } = orderPlugins([plugin('c'), plugin('a'), plugin('b')]);
    expect(plugins.map((one) => one.name)).to.equal(['c', 'a', 'b']);
  });

  it('does not miss a plugin that is only used', () => {
    expect(orderPlugins([plugin('flags', [], ['accounts'])]).faults).to.equal([]);
  });

  it('names every need that is missing', () => {
    const { faults } = orderPlugins([plugin('flags', ['directory', 'accounts'])]);
    expect(faults).to.equal([
      { kind: 'missing', plugin: 'flags', need: 'directory' },
      { kind: 'missing', plugin: 'flags', need: 'accounts' },
    ]);
  });

  it('names a circle once, over needs and uses alike', () => {
    const { faults } = orderPlugins([plugin('c', ['a']), plugin('a', [], ['b']), plugin('b', ['c'])]);
    expect(faults).to.equal([{ kind: 'cycle', plugins: ['a', 'b', 'c'] }]);
  });

  it('orders any plugins without a circle, whatever the order they are named in', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const graph = fc.record({
      edges: fc.array(fc.tuple(fc.nat(6), fc.nat(6)), { maxLength: 15 }),
      named: fc.shuffledSubarray(names, { minLength: names.length }),
    });
    fc.assert(fc.property(graph, ({ edges, named }) => {
      const needsOf = (name: string): string[] => edges.filter(([from, to]) => names[from] === name && to < from).map(([, to]) => names[to]!);
      const { plugins, faults } = orderPlugins(named.map((name) => plugin(name, needsOf(name))));
      const place = new Map(plugins.map((one, index) => [one.name, index]));
      return faults.length === 0 && plugins.every((one) => one.needs!.every((need) => place.get(need)! < place.get(one.name)!));
    }));
  });
});
