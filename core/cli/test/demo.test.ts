import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../test/wait.ts';
import { createInstance, type Instance } from '../../../test/support/civic.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('bin/civic serve --demo', { timeout: 120_000 }, () => {
  let instance: Instance;
  before(() => { instance = createInstance({ plugins: { directory: {}, firehose: { anonymous: true } } }); });
  after(() => { instance.remove(); });

  const actorsAt = async (url: string): Promise<number> => (await (await fetch(`${url}/api/entities?limit=1`)).json() as { total: number }).total;

  const grantsAt = async (url: string): Promise<number> => {
    const { summary } = await (await fetch(`${url}/api/firehose?visibility=public&signal_type=grant_award`)).json() as { summary: { total_signals: number } };
    return summary.total_signals;
  };

  it('shows an invented region with a year of signals, and one command deletes it', async () => {
    const served = await instance.start('--demo');
    // The first start also fills the gazetteer.
    await until(() => served.output().includes('Ctrl-C stops it'), 100_000);
    expect(served.output()).to.contain(['The demo is loaded', 'bin/civic demo remove', 'directory']);
    expect(await actorsAt(served.url)).to.be.above(400);
    expect(await grantsAt(served.url)).to.be.above(10);
    // What only the demo has is announced too.
    expect(await (await fetch(`${served.url}/asyncapi.json`)).text()).to.contain('grant_award');
    const removed = await instance.civicInProcess('demo', 'remove', '--json');
    expect([removed.code, removed.stderr]).to.equal([0, '']);
    expect(JSON.parse(removed.stdout).removed).to.be.a.number();
    expect([await actorsAt(served.url), await grantsAt(served.url)]).to.equal([0, 0]);
    expect(await served.stop()).to.equal(0);
  });

  it('is not needed when the option demo is true', async () => {
    // A plugin whose demo data is one sentence: loading the region takes seconds.
    const plugin = join(instance.folder, 'little');
    mkdirSync(plugin);
    writeFileSync(join(plugin, 'index.js'), `import { definePlugin } from 'civic';
      export default definePlugin({ name: 'little', summary: 'Has demo data', register(_server, civic) {
        civic.command({ name: 'demo load', summary: 'Load it', needs: 'database', writes: true, async run({ terminal }) { terminal.print({}, () => 'A little demo: ' + civic.instance.demo); } });
      } });`);
    const other = createInstance({ plugins: { little: { from: plugin } } }, { env: { CIVIC_DEMO: 'true' } });
    const served = await other.serve();
    expect(served.output()).to.contain('A little demo: true\n');
    await served.stop();
    other.remove();
  });

  it('fails before it creates anything when no plugin has demo data', async () => {
    for (const [config, words] of [[{}, ['--demo']], [{ demo: true }, []]] as [object, string[]][]) {
      const bare = createInstance({ plugins: { firehose: {} }, ...config });
      const { code, stderr } = await bare.civicInProcess('serve', ...words, '--port', '0');
      expect([code, stderr]).to.equal([1, 'demo is true, but none of the plugins that run has demo data (firehose). Without a config file the default plugins run, which have it.\n']);
      expect(existsSync(join(bare.folder, 'data'))).to.be.false();
      bare.remove();
    }
  });
});
