import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commandsOf } from '../../core/cli/composed.ts';
import { bundledPlugins } from '../../core/load.ts';
import { projectRoot } from '../../core/root.ts';
import { runCivicInProcess } from '../support/in-process.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...readdirSync(join(projectRoot, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)];

/** The members of an interface in a source file. */
function membersOf(source: string, name: string): string[] {
  const body = new RegExp(`export interface ${name}\\b[^{]*\\{([^]*?)\\n\\}`).exec(source)![1]!;
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)[?(<:]/gm)].map((match) => match[1]!);
}

describe('The documentation', () => {
  const guide = read('docs/writing-plugins.md');
  const contract = read('core/plugin.ts');

  for (const [name, shown] of [['Civic', 'civic.'], ['Plugin', ''], ['Lifecycle', ''], ['RouteDeclaration', '']] as const) {
    it(`documents every member of ${name}`, () => {
      const members = membersOf(contract, name);
      expect(members.length).to.be.at.least(2);
      expect(members.filter((member) => !guide.includes(`\`${shown}${member}\``))).to.equal([]);
    });
  }

  const tools = guide.slice(guide.indexOf('### Tools for assistants'), guide.indexOf('### Commands and checks'));
  for (const name of ['Tool', 'ToolCall', 'AssistantCall', 'AssistantClient', 'ToolResult', 'Resource', 'Prompt', 'Assistant']) {
    it(`documents every member of ${name}`, () => {
      const members = membersOf(read('core/assistant/types.ts'), name);
      expect(members.length).to.be.at.least(1);
      expect(members.filter((member) => !new RegExp(`\`${member}[\`(]`).test(tools))).to.equal([]);
    });
  }

  const examples = guide.slice(guide.indexOf('### Examples'));
  for (const name of ['Example', 'ExampleValue']) {
    it(`documents every member of ${name}`, () => {
      const members = membersOf(read('core/pages/examples/types.ts'), name);
      expect(members.length).to.be.at.least(3);
      expect(members.filter((member) => !examples.includes(`\`${member}\``))).to.equal([]);
    });
  }

  it('documents every member of ReferenceDeclaration', () => {
    const [row] = /^\| `reference` .*$/m.exec(guide)!;
    expect(membersOf(contract, 'ReferenceDeclaration').filter((member) => !row.includes(`\`${member}\``))).to.equal([]);
  });

  it('documents every member of Operations and its parts', () => {
    const part = guide.slice(guide.indexOf('### Operations'), guide.indexOf('## Testing'));
    for (const [file, name] of [['operations', 'Operations'], ['operations', 'EventOperations'], ['operations', 'BackupOperations'], ['jobs', 'JobOperations']] as const) {
      const members = membersOf(read(`core/${file}.ts`), name);
      expect(members.length).to.be.at.least(2);
      expect(members.filter((member) => !new RegExp(`\`${member}[\`(]`).test(part)), name).to.equal([]);
    }
  });

  it('documents every member of CorsDeclaration', () => {
    const [row] = /^\| `cors` .*$/m.exec(guide)!;
    expect(membersOf(contract, 'CorsDeclaration').filter((member) => !row.includes(`\`${member}\``))).to.equal([]);
  });

  it('documents every member of declared names', () => {
    for (const [category, name] of [['scopes', 'ScopeKind'], ['capabilities', 'CapabilityKind'], ['limits', 'LimitKind'], ['rates', 'RateKind'], ['paths', 'PathKind'], ['slots', 'SlotKind']] as const) {
      const [, members] = new RegExp(`^\\| \`${category}\` \\| (.*?) \\|`, 'm').exec(guide)!;
      expect(members!.replace(/[`?]/g, '').split(', '), category).to.equal(membersOf(read('core/vocabulary.ts'), name));
    }
  });

  it('documents everything else that civic exports', () => {
    const names = [...read('core/index.ts').matchAll(/^export \{([^}]*)\}/gm)].flatMap((match) => match[1]!.split(',').map((name) => name.trim().replace(/^default as /, '')));
    expect(names.length).to.be.above(10);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(guide))).to.equal([]);
  });

  it('has no link to a page or heading that is not there', () => {
    for (const page of pages) {
      for (const [, target] of read(page).matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
        const [file = '', heading] = target!.split('#');
        const path = file === '' ? page : join(dirname(page), file);
        expect(existsSync(join(projectRoot, path)), `${page}: ${target}`).to.be.true();
        if (heading) expect(headingsOf(read(path)), `${page}: ${target}`).to.include(heading);
      }
    }
  });

  it('names no command that does not exist', async () => {
    const { stdout } = await runCivicInProcess(['--help']);
    const commands = stdout.split('\n').filter((line) => /^ {2}\w/.test(line)).map((line) => line.trim().split(/ {2,}/)[0]!);
    expect(commands).to.include(['serve', 'plugin new', 'backup']);
    // Of the example in docs/examples/herons.
    commands.push('herons report', ...(await commandsOf(bundledPlugins()))!.map(({ name }) => name));
    for (const page of pages) {
      for (const [, words] of read(page).matchAll(/bin\/civic ([a-z]+(?: [a-z][a-z-]*)?)/g)) {
        const [first] = words!.split(' ');
        expect(commands.some((command) => command === words || command === first || command.startsWith(`${words} `)), `${page}: bin/civic ${words}`).to.be.true();
      }
    }
  });

  it('names the values of options without brackets, which the help adds', async () => {
    const values = (await commandsOf(bundledPlugins()))!.flatMap(({ name, options = [] }) => options.flatMap(({ value }) => (value === undefined ? [] : [`${name}: ${value}`])));
    expect(values).to.include('usage verify: id');
    expect(values.filter((value) => /[<>]/.test(value))).to.equal([]);
  });

  it('has every command of core in the table of docs/operating.md', async () => {
    const { stdout } = await runCivicInProcess(['--help']);
    const commands = stdout.split('\n').filter((line) => /^ {2}\w/.test(line)).map((line) => line.trim().split(/ {2,}/)[0]!);
    const table = read('docs/operating.md');
    expect(commands.filter((command) => !table.includes(`| \`${command}`))).to.equal([]);
  });

  it('has a README in every plugin', () => {
    for (const name of bundledPlugins()) expect(existsSync(join(projectRoot, 'plugins', name, 'README.md')), name).to.be.true();
    expect(existsSync(join(projectRoot, 'templates/plugin/README.md'))).to.be.true();
  });
});

describe('The README of a plugin', () => {
  const services: [plugin: string, file: string, name: string][] = [
    ['accounts', 'service.ts', 'AccountsService'],
    ['accounts', 'settings/plugin-pages.ts', 'AccountPages'],
    ['accounts', 'console/plugin-pages.ts', 'ConsolePages'],
    ['console', 'service.ts', 'ConsoleService'],
    ['console', 'service.ts', 'AttentionEntry'],
    ['console', 'service.ts', 'Series'],
    ['directory', 'offered/service.ts', 'DirectoryService'],
    ['firehose', 'types.ts', 'FirehoseService'],
    ['oauth', 'service.ts', 'OauthService'],
    ['ratelimit', 'service.ts', 'RatelimitService'],
  ];

  for (const [plugin, file, name] of services) {
    it(`documents every member of ${name}`, () => {
      const readme = read(`plugins/${plugin}/README.md`);
      const members = membersOf(read(`plugins/${plugin}/${file}`), name);
      expect(members.length).to.be.at.least(1);
      expect(members.filter((member) => !new RegExp(`[\`.]${member}\\b`).test(readme))).to.equal([]);
    });
  }
});

describe('The security checklist of oauth', () => {
  it('names tests that exist', () => {
    const rows = read('plugins/oauth/README.md').split('\n').filter((line) => /^\| .*\b(?:attacks|flow|manage|bearer|registration): /.test(line));
    expect(rows.length).to.be.above(10);
    for (const row of rows) {
      let file = '';
      for (const part of row.split(' | ').at(-1)!.replace(/ \|$/, '').split('; ')) {
        const [, name, title] = /^(?:(\w+): )?(.*)$/.exec(part)!;
        file = name ?? file;
        if (file === '' || file === 'accounts' || !title || title.includes('`') || /^\w+$/.test(title)) continue;
        const titles = [...read(`plugins/oauth/test/${file}.test.ts`).matchAll(/\b(?:it|describe)\(['`]([^'`]+)/g)].map((match) => match[1]!.toLowerCase());
        expect(titles.some((one) => one.includes(title.toLowerCase())), part).to.be.true();
      }
    }
  });
});

describe('The sources', () => {
  it('have no file over 400 lines', () => {
    const files = ['core', 'plugins', 'bin'].flatMap((folder) => (existsSync(join(projectRoot, folder)) ? readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true }) : []))
      .filter((entry) => entry.isFile() && /\.(ts|js)$/.test(entry.name) && !entry.name.endsWith('.test.ts'));
    expect(files.length).to.be.above(50);
    for (const file of files) expect(readFileSync(join(file.parentPath, file.name), 'utf8').split('\n').length, file.name).to.be.below(402);
  });
});

function headingsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!.toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-'));
}
