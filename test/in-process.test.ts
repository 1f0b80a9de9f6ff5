import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { join } from 'node:path';
import { createInstance, runCivic, testPlugins, type Instance } from './support/civic.ts';
import { runCivicInProcess } from './support/in-process.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('the command line inside the process of a test', () => {
  let instance: Instance;
  before(() => { instance = createInstance({ plugins: { notes: { from: join(testPlugins, 'notes') } } }); });
  after(() => { instance.remove(); });

  const state = () => ({ cwd: process.cwd(), env: { ...process.env }, isTTY: process.stdout.isTTY, listeners: [process.listenerCount('SIGINT'), process.listenerCount('SIGTERM'), process.stdout.listenerCount('error')] });

  it('returns what the process returns: exit code, standard output and standard error', async () => {
    // Only standard output, with settings of the environment; only standard error, before and after the plugins are loaded.
    const calls = [['config', 'show', '--origin'], ['serv'], ['notes', 'add', 'bad']];
    for (const call of calls) {
      const args = [...call, '--config', instance.configFile];
      const options = { cwd: instance.folder, env: { CIVIC_HTTP_PORT: '9999' } };
      expect(await runCivicInProcess(args, options), call.join(' ')).to.equal(await runCivic(args, options));
    }
  });

  it('runs calls one after the other, each with its own output', async () => {
    const texts = ['one', 'two', 'three'];
    const added = await Promise.all(texts.map((text) => instance.civicInProcess('notes', 'add', text, '--json')));
    expect(added.map(({ code, stdout, stderr }) => [code, JSON.parse(stdout).text, stderr])).to.equal(texts.map((text) => [0, text, '']));
    expect((await instance.civicInProcess('notes', 'count')).stdout).to.equal('3\n');
  });

  it('leaves the environment, the folder, the streams and the listeners as they were, also after an error', async () => {
    const before = state();
    await runCivicInProcess(['--version'], { cwd: instance.folder, env: { CIVIC_NAME: 'Elsewhere' } });
    expect(state()).to.equal(before);
    await expect(runCivicInProcess(['--version'], { cwd: join(instance.folder, 'missing') })).to.reject(/ENOENT/);
    expect(state()).to.equal(before);
    expect((await runCivicInProcess(['--version'])).code).to.equal(0);
  });
});
