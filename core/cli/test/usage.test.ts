import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { join } from 'node:path';
import { projectRoot } from '../../root.ts';
import { exitCodeOf } from '../exit.ts';
import { dispatch } from '../main.ts';
import { createTerminal } from '../terminal.ts';

export const lab = Lab.script();
const { describe, it } = lab;

interface Ended {
  code: number;
  out: string;
  err: string;
}

/** Runs `bin/civic` in this process. */
async function civic(...argv: string[]): Promise<Ended> {
  let out = '';
  let err = '';
  const outlet = { out: (text: string) => { out += text; }, err: (text: string) => { err += text; }, isTerminal: false, color: false };
  const terminal = createTerminal(outlet, { json: argv.includes('--json'), signal: new AbortController().signal });
  return { code: await exitCodeOf(() => dispatch(argv, terminal), terminal), out, err };
}

const all = ['--config', join(projectRoot, 'config/civic.default.yaml')];

describe('Wrong usage of bin/civic', () => {
  const cases: [words: string, err: string][] = [
    ['bogus', 'There is no command "bogus"\nbin/civic --help lists all commands.\n'],
    ['backupp', 'There is no command "backupp": did you mean "backup"?\nbin/civic --help lists all commands.\n'],
    ['help bogus', 'There is no command "bogus"\nbin/civic --help lists all commands.\n'],
    ['--port 80', 'The command is missing: bin/civic <command> --port 80\nbin/civic --help lists all commands.\n'],
    ['-x', 'The command is missing: bin/civic <command> -x\nbin/civic --help lists all commands.\n'],
    ['--port 80 serve', 'Options come after the command: bin/civic serve --port 80\n'],
    ['config', '"config" needs another word:\n  bin/civic config show\n  bin/civic config check\n  bin/civic config help\n'],
    ['serve extra', 'Unexpected argument "extra"\nbin/civic serve --help shows its usage.\n'],
    ['serve --prot 80', 'There is no option --prot: did you mean --port?\nbin/civic serve --help shows its usage.\n'],
    ['serve --port', '--port needs a value: --port <number>\nbin/civic serve --help shows its usage.\n'],
    ['serve --port --demo', '--port needs a value: --port <number>\nbin/civic serve --help shows its usage.\n'],
    ['serve --demo=yes', '--demo takes no value\nbin/civic serve --help shows its usage.\n'],
    ['plugin new', 'The argument <name> is missing\nbin/civic plugin new --help shows its usage.\n'],
  ];
  for (const [words, err] of cases) {
    it(`bin/civic ${words}`, async () => {
      expect(await civic(...words.split(' '))).to.equal({ code: 2, out: '', err });
    });
  }

  it('includes a value of an option that cannot be right', async () => {
    const { code, err } = await civic('serve', '--port', 'abc');
    expect(code).to.equal(2);
    expect(err).to.contain(['argument --port', 'http.port must be a whole number from 0 to 65535, but it is the text "abc"']);
  });

  it('does not include a config file that is missing, nor one that is wrong', async () => {
    expect((await civic('config', 'check', '--config', '/nowhere/civic.yaml')).code).to.equal(1);
    expect((await civic('config', 'check', '--config', join(projectRoot, 'test/config-notices/cannot-be-read.yaml'))).code).to.equal(1);
  });

  it('answers a command of a plugin that is off with the lines that switch the plugin on', async () => {
    const { code, err } = await civic('account', 'list', '--config', 'test/config-notices/two-of-the-defaults.yaml');
    expect(code).to.equal(1);
    expect(err).to.equal([
      '"account list" is a command of the plugin accounts, which is off. To switch it on:', '',
      'Add to test/config-notices/two-of-the-defaults.yaml, directly below "plugins:" on line 2:', '', '    accounts:', '',
    ].join('\n'));
  });
});

describe('Help of bin/civic', () => {
  it('is the same by every spelling', async () => {
    const [first, ...others] = await Promise.all([civic('serve', '--help'), civic('serve', '-h'), civic('help', 'serve'), civic('serve', '--port', '1', '-h')]);
    expect(first!.code).to.equal(0);
    expect(first!.out).to.contain('Usage: bin/civic serve [options]');
    for (const other of others) expect(other).to.equal(first);
    expect((await civic('-h')).out).to.equal((await civic('--help')).out);
    expect((await civic('help', 'config')).out).to.equal((await civic('config', '--help')).out);
  });

  it('describes every command: a summary, its usage and its options', async () => {
    const { out } = await civic('--help');
    const names = out.split('\n').filter((line) => /^ {2}\w/.test(line)).map((line) => line.trim().split(/ {2,}/)[0]!);
    expect(names.length).to.be.above(25);
    for (const name of names) {
      const help = await civic(...name.split(' '), '--help', ...all);
      expect(help, name).to.include({ code: 0, err: '' });
      expect(help.out, name).to.match(new RegExp(`^[A-Z][^\\n]+\\n\\nUsage: bin/civic ${name}[^\\n]* \\[options\\]\\n\\nOptions\\n`));
      expect(help.out, name).to.contain(['--json', '--help']);
    }
  });

  it('explains options as data with --json', async () => {
    const { out } = await civic('config', 'help', 'http.port', '--json', ...all);
    expect(JSON.parse(out)).to.equal([{
      path: 'http.port', doc: 'The port to listen on; 0 takes any free one.', expects: 'a whole number from 0 to 65535', required: false, default: 8080, secret: false, environment: ['CIVIC_HTTP_PORT', 'CIVIC_PORT'],
    }]);
  });
});
