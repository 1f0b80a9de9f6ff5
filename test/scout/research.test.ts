import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMachine, endOf, type Machine } from '../support/scout.ts';
import { LOCAL, startSite, type Site } from './site.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

const PLACE = ['--location', 'Kansas City, MO', '--issue', 'housing_affordability'];

describe('Research on one machine', () => {
  let machine: Machine;
  let site: Site;
  const json = async (...args: string[]) => JSON.parse((await machine.scout(...args, '--json')).stdout);
  before(async () => {
    machine = createMachine(LOCAL);
    site = await startSite();
  });
  after(async () => {
    machine.remove();
    await site.close();
  });

  it('explains what a run lacks', async () => {
    expect((await machine.scout('runs')).stderr).to.contain('There is no database at').and.to.contain('bin/scout migrate creates it');
    expect((await machine.spawn(['run'])).stderr).to.contain('Which place: no answer was given. Give --location <place>.');
    expect((await machine.scout('run', '--location', 'Nowhereville XQ', '--issue', 'housing_affordability')).stderr).to.match(/^location: "Nowhereville XQ" names no place for certain/);
    expect(await machine.scout('run', '--location', 'Kansas City, MO', '--issue', 'housing')).to.include({ code: 2 });
    expect((await machine.scout('run', ...PLACE, '--depth', 'abyss')).stderr).to.startWith('--depth is standard or deep, not "abyss"');
    expect((await machine.scout('run', '--resume')).stderr).to.equal('No run was interrupted: bin/scout runs lists all.\n');
  });

  it('finds candidates from a seed, within robots.txt', async () => {
    const { code, stdout, stderr } = await machine.scout('run', ...PLACE, '--seed', `${site.url}/about`, '--seed', `${site.url}/private`);
    expect([code, stderr.split('\n')[0]]).to.equal([0, stderr.split('\n')[0]]);
    expect(stdout).to.match(/^Completed\. Pages read: \d+, skipped: \d+\. Candidates: \d+\.\nbin\/scout review --run /);
    const [run] = await json('runs');
    expect(run).to.include({ status: 'completed', place: 'kansas-city,missouri', review_state: 'unreviewed' });
    expect(site.requests.get('/about')).to.equal(1);
    expect(site.requests.has('/private')).to.be.false();
    expect((await machine.scout('pages')).stdout).to.match(/^read +\d+ +http.*\/about$/m).and.to.match(/^skipped \(robots\) +0 +http.*\/private$/m);
  });

  it('is reviewed by lines: accept, reject, undo, edit, merge', async () => {
    const [{ counts: { candidates } }] = await json('runs');
    const first = await machine.spawn(['review'], ['a', 'x', 'r', 'u', 'e', 'n', 'James T. Carter', 'a', 'q']);
    expect(first.code).to.equal(0);
    expect(first.stdout).to.contain([`Candidate 1 of ${candidates}, Kansas City, MO`, 'person, score ', 'affiliation   ', '“Executive Director”', 'rejected.', 'waits again.', 'Corrected.', '2 accepted, 0 rejected, 0 merged']);
    expect(first.stdout + first.stderr).to.not.contain('\u001b');
    expect(first.stderr).to.contain('Answer with one of: a, r, m, e, s, u, q');
    expect(first.stdout.split('\n').filter((line) => line.length > 80)).to.equal([]);
    const names = (await json('entries')).map(({ name }: { name: string }) => name);
    expect(names).to.include('James T. Carter').and.to.have.length(2);
    const merged = await machine.spawn(['review'], ['m', '1', 'q']);
    expect(merged.stdout).to.contain('0 accepted, 0 rejected, 1 merged');
    expect(await json('entries')).to.have.length(2);
    expect((await machine.spawn(['review'], [])).code).to.equal(1);
  });

  it('is exported as JSON and CSV', async () => {
    const entries = JSON.parse((await machine.scout('export')).stdout);
    expect(entries[0].claims[0]).to.include(['property', 'value', 'excerpt', 'locator', 'source_local_id']);
    const { code } = await machine.scout('export', '--format', 'csv', '--out', 'entries.csv');
    expect(code).to.equal(0);
    const rows = readFileSync(join(machine.folder, 'entries.csv'), 'utf8').trim().split('\r\n');
    expect(rows).to.have.length(3);
    expect(rows[0]!).to.startWith('id,type,name,');
    expect((await machine.scout('export', '--out', 'entries.csv')).stderr).to.contain('exists, and was not changed');
    expect((await machine.scout('export', '--format', 'xml')).code).to.equal(2);
  });

  it('remembers rejections, and reads what robots.txt excludes only when the person says so', async () => {
    const other = { ...machine.env };
    Object.assign(machine.env, { SCOUT_SCRAPER_RESPECT_ROBOTS: 'false' });
    try {
      await machine.scout('run', ...PLACE, '--seed', `${site.url}/private`);
      expect(site.requests.get('/private')).to.equal(1);
    } finally {
      delete machine.env.SCOUT_SCRAPER_RESPECT_ROBOTS;
      expect(machine.env).to.equal({ ...other });
    }
  });

  it('keeps the data for this user, and starts no server', () => {
    expect(existsSync(join(machine.folder, 'data/scout/civic.db'))).to.be.true();
    expect(existsSync(join(machine.folder, 'data/scout/civic.sock'))).to.be.false();
  });
});

describe('A run that is interrupted', () => {
  let machine: Machine;
  let site: Site;
  before(async () => {
    machine = createMachine(LOCAL);
    site = await startSite({ members: 14, delayMs: 150 });
    await machine.scout('migrate');
  });
  after(async () => {
    machine.remove();
    await site.close();
  });

  /** Returns the pages that were read, with how often each was requested until now: one that was underway at a kill is requested again. */
  const readPages = async (): Promise<[string, number | undefined][]> => JSON.parse((await machine.scout('pages', '--json')).stdout).filter(({ state }: { state: string }) => state === 'read').map(({ url }: { url: string }) => [new URL(url).pathname, site.requests.get(new URL(url).pathname)]);
  const members = () => [...site.requests.keys()].filter((path) => path.startsWith('/members')).length;

  async function untilMembers(count: number): Promise<void> {
    while (members() < count) await sleep(20);
  }

  it('goes on after a kill and after Ctrl-C, and requests no page again that was read', async () => {
    const killed = machine.start(['run', ...PLACE, '--seed', `${site.url}/about`]);
    await untilMembers(4);
    killed.kill('SIGKILL');
    await endOf(killed);
    const before = await readPages();
    expect(before.length).to.be.at.least(1);
    expect((await machine.scout('runs')).stdout).to.contain('running');

    const stopped = machine.start(['run', '--resume']);
    await untilMembers(8);
    stopped.kill('SIGINT');
    const { code, stderr } = await endOf(stopped);
    expect(code).to.equal(1);
    expect(stderr).to.match(/Stopped\. \d+ of \d+ pages are read: bin\/scout run --resume goes on without reading them again\.\n$/);
    const between = await readPages();

    const ended = await machine.scout('run', '--resume');
    expect([ended.code, ended.stdout.slice(0, 10)]).to.equal([0, 'Completed.']);
    expect((await readPages()).length).to.be.above(between.length);
    for (const [path, requests] of [...before, ...between]) expect(site.requests.get(path), path).to.equal(requests);
  });
});
