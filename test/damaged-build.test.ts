import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInstance } from './support/civic.ts';
import { startCommandLine, type CommandLine } from './support/command-line.ts';
import { copyKit } from './support/kit.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('A build with a damaged file', () => {
  let folder: string;
  let root: string;
  let commands: CommandLine;
  before(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'civic-test-')));
    root = join(folder, 'kit');
    copyKit(root);
    commands = startCommandLine({ root, cwd: folder });
  });
  after(async () => {
    await commands.end();
    rmSync(folder, { recursive: true });
  });

  it('still lists its commands', async () => {
    const { stdout: expected } = await commands.run('--help');
    expect(expected).to.contain(['  serve', '  places import']);
    for (const content of ['{"own":[{"na', '{}']) {
      writeFileSync(join(root, 'dist/commands.json'), content);
      expect(await commands.run('--help'), content).to.equal({ code: 0, stdout: expected, stderr: '' });
    }
  });

  it('names the gazetteer and what to do', async () => {
    const file = join(root, 'dist/plugins/directory/places/gazetteer.gz');
    const config = join(folder, 'directory.yaml');
    writeFileSync(config, 'plugins: { directory: {} }\n');
    const migrate = async (name: string) => (await commands.run('migrate', '--config', config, '--data', join(folder, name))).stderr;
    truncateSync(file, 1000);
    expect(await migrate('truncated')).to.contain(`The build is damaged: ${file} cannot be read (unexpected end of file). Delete dist/ and start again`).and.to.not.contain('    at ');
    rmSync(file);
    expect(await migrate('missing')).to.contain([`The build is damaged: ${file} cannot be read (ENOENT`, 'Delete dist/ and start again']).and.to.not.contain('    at ');
  });

  // Last: the command line of the tests above loads the bundle.
  it('reports once that it starts without the bundle', async () => {
    const instance = createInstance({ plugins: { ratelimit: {} } }, { root });
    const starts = async (): Promise<number> => {
      const served = await instance.serve();
      await served.stop();
      return served.output().split('dist/bundle').length - 1;
    };
    try {
      expect(await starts()).to.equal(0);
      rmSync(join(root, 'dist/bundle'), { recursive: true });
      expect(await starts()).to.equal(1);
    } finally {
      instance.remove();
    }
  });
});
