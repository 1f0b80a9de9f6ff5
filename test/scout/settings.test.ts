import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../core/root.ts';
import { createMachine, type Machine } from '../support/scout.ts';
import { runCivicInProcess } from '../support/in-process.ts';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('The settings of scout', () => {
  let machine: Machine;
  let file: string;
  before(() => {
    machine = createMachine();
    file = join(machine.folder, 'config/scout/scout.yaml');
  });
  after(() => { machine.remove(); });

  it('are in a file of the person, which init writes once', async () => {
    const { stdout } = await machine.scout('config', 'path');
    expect(stdout).to.equal(`Config file: ${file}\nData folder: ${machine.folder}/data/scout\n`);
    const written = await machine.scout('init', '--yes');
    expect([written.code, written.stderr]).to.equal([0, '']);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const again = await machine.scout('init', '--yes');
    expect(again).to.equal({ code: 1, stdout: '', stderr: `${file} exists, and was not changed. Change it with bin/scout config set, or move it away to start over.\n` });
  });

  it('have the limits of the contract as defaults', async () => {
    const { stdout } = await machine.scout('config', 'show', '--json');
    expect(JSON.parse(stdout)).to.include({
      scraper: {
        browser_fallback_enabled: true, max_browser_renders_per_run: 8, max_browser_concurrent: 1, browser_path: null, browser_sandbox: true,
        max_concurrent_fetches: 4, request_delay_ms: 1000, respect_robots: true, allow_private_addresses: false, user_agent: null,
      },
    });
    expect((await machine.scout('config', 'show')).stdout).to.contain('scraper:\n  browser_fallback_enabled: true\n  max_browser_renders_per_run: 8\n');
  });

  it('are changed by config set, which keeps comments and rejects what is wrong', async () => {
    expect((await machine.scout('config', 'set', 'scraper.request_delay_ms', '250')).code).to.equal(0);
    expect(readFileSync(file, 'utf8')).to.match(/^# Settings of scout/).and.to.endWith('scraper:\n  request_delay_ms: 250\n');
    expect((await machine.scout('config', 'get', 'scraper.request_delay_ms')).stdout).to.equal('250\n');
    const before = readFileSync(file, 'utf8');
    expect((await machine.scout('config', 'set', 'scraper.respect_robots', 'perhaps')).stderr).to.contain('scraper.respect_robots must be true or false').and.to.contain('Read: plugins/scout/README.md#settings');
    expect((await machine.scout('config', 'set', 'scraper.request_delay', '1')).stderr).to.equal('There is no option scraper.request_delay. Did you mean scraper.request_delay_ms?\n');
    expect((await machine.scout('config', 'set', 'scraper', '1')).stderr).to.startWith('scraper is a section');
    expect(readFileSync(file, 'utf8')).to.equal(before);
    await machine.scout('config', 'set', 'scraper.request_delay_ms', 'default');
    expect((await machine.scout('config', 'get', 'scraper.request_delay_ms')).stdout).to.equal('1000\n');
  });

  it('mask secrets', async () => {
    await machine.scout('config', 'set', 'model.api_key', 'sk-secret');
    for (const words of [['config', 'show'], ['config', 'get', 'model.api_key'], ['config', 'get', 'model']]) expect((await machine.scout(...words)).stdout).to.contain('[masked]').and.to.not.contain('sk-secret');
  });

  it('are set by variables with the name of the program, and not by those of civic', async () => {
    const other = createMachine({ SCOUT_SCRAPER_MAX_CONCURRENT_FETCHES: '2', CIVIC_DATA_DIR: '/nowhere', CIVIC_CONFIG: '/nowhere/civic.yaml' });
    try {
      expect((await other.scout('config', 'get', 'scraper.max_concurrent_fetches')).stdout).to.equal('2\n');
      expect((await other.scout('config', 'get', 'data_dir')).stdout).to.equal(`${other.folder}/data/scout\n`);
      Object.assign(other.env, { SCOUT_SCRAPER_MAX_CONCURENT_FETCHES: '2' });
      expect((await other.scout('config', 'show')).stderr).to.contain('SCOUT_SCRAPER_MAX_CONCURENT_FETCHES is not the variable of any option').and.to.contain('did you mean SCOUT_SCRAPER_MAX_CONCURRENT_FETCHES?');
    } finally {
      other.remove();
    }
  });

  it('are not those of civic', async () => {
    expect((await machine.scout('config', 'get', 'http.port')).stderr).to.equal('There is no option http.port: bin/scout config help lists them all\n');
    expect((await runCivicInProcess(['config', 'set', 'http.port', '1'])).stderr).to.startWith('There is no command "config set http.port 1"');
    expect((await runCivicInProcess(['plugin', 'list'])).stdout).to.not.contain('scout');
  });
});

describe('The command line of scout', () => {
  let machine: Machine;
  before(() => { machine = createMachine(); });
  after(() => { machine.remove(); });

  it('names itself in help and errors', async () => {
    expect((await machine.scout('--help')).stdout).to.startWith('scout: ').and.to.contain('Usage: bin/scout <command>').and.to.not.contain('civic serve');
    expect((await machine.scout('config', 'get', '--help')).stdout).to.contain(['Usage: bin/scout config get <option>', '(default: ~/.config/scout/scout.yaml)', '  bin/scout config get scraper.request_delay_ms']);
    expect(await machine.scout('serve')).to.equal({ code: 2, stdout: '', stderr: 'There is no command "serve"\nbin/scout --help lists all commands.\n' });
    expect((await machine.scout('config', 'get')).stderr).to.equal('The argument <option> is missing\nbin/scout config get --help shows its usage.\n');
  });

  it('asks in init, by lines where there is no terminal, and names what to give', async () => {
    const { code, stderr } = await machine.scout('init', '--json');
    expect(code).to.equal(1);
    expect(stderr).to.contain('Give --yes, and then bin/scout config set instance.url <value>.');
    expect(existsSync(join(machine.folder, 'config/scout/scout.yaml'))).to.be.false();
  });

  it('checks this machine without a server', async () => {
    const { code, stdout } = await machine.scout('doctor');
    expect(code).to.equal(0);
    expect(stdout).to.contain('plugins: directory, reader, discovery, scout').and.to.not.contain('port');
  });
});

describe('The documentation of scout', () => {
  const guide = readFileSync(join(projectRoot, 'plugins/scout/README.md'), 'utf8');
  let machine: Machine;
  let commands: string[];
  let help: string;
  before(async () => {
    machine = createMachine();
    help = (await machine.scout('--help')).stdout;
    commands = help.split('\n').filter((line) => /^ {2}\w/.test(line)).map((line) => line.trim().split(/ {2,}/)[0]!);
  });
  after(() => { machine.remove(); });

  it('has every command, and --help lists them', () => {
    expect(commands).to.equal(['run', 'review', 'sync', 'login', 'runs', 'pages', 'entries', 'export', 'init', 'migrate', 'doctor', 'config show', 'config help', 'config get', 'config set', 'config path', 'backup', 'restore']);
    expect(commands.filter((command) => !guide.includes(`\`${command}\``))).to.equal([]);
    expect(help).to.equal(golden('help.txt', help));
  });

  it('names no command that does not exist', () => {
    for (const page of ['plugins/scout/README.md', 'README.md', 'CHANGELOG.md']) {
      for (const [, words] of readFileSync(join(projectRoot, page), 'utf8').matchAll(/bin\/scout ([a-z]+(?: [a-z]+)?)/g)) {
        expect(commands.some((command) => command === words || command === words!.split(' ')[0]), `${page}: bin/scout ${words}`).to.be.true();
      }
    }
  });

  it('has every setting', async () => {
    const { stdout } = await machine.scout('config', 'help', '--json');
    const paths = (JSON.parse(stdout) as { path: string }[]).map(({ path }) => path);
    expect(paths).to.have.length(15);
    expect(paths.filter((path) => !guide.includes(`\`${path}\``))).to.equal([]);
  });

  it('is in --help of each command, with examples of this program', async () => {
    const texts: string[] = [];
    for (const command of commands) texts.push(`$ bin/scout ${command} --help\n${(await machine.scout(...command.split(' '), '--help')).stdout}`);
    const text = texts.join('\n');
    expect(text).to.not.contain('bin/civic');
    expect(text).to.equal(golden('commands.txt', text));
  });
});

/** Returns a stored text; CIVIC_UPDATE_GOLDEN=1 stores the current one. */
function golden(name: string, current: string): string {
  const file = join(projectRoot, 'test/scout', name);
  if (process.env.CIVIC_UPDATE_GOLDEN) writeFileSync(file, current);
  return readFileSync(file, 'utf8');
}
