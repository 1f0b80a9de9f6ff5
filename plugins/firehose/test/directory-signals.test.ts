import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin, type EventRecord } from 'civic';
import type { ActorsChanged } from 'civic/directory';
import { stoppedClock, testDatabases } from 'civic/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { publishActorChanges, type DirectorySignalsContext } from '../signals/changes.ts';
import { sequenceOf } from './kit.ts';
import { said, signalsKit, type SignalsKit } from './directory-kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const NOW = '2026-03-02T15:00:00.000Z';
const HOUSING = 'housing_affordability';

for (const database of testDatabases()) describe(`Signals of the directory, on ${database}`, { timeout: 60_000 }, () => {
  let kit: SignalsKit;
  let context: DirectorySignalsContext;
  const heard: EventRecord<ActorsChanged>[] = [];
  const listener = definePlugin({
    name: 'listener',
    summary: 'Hears what the Firehose hears',
    needs: ['directory', 'firehose'],
    register(_server, civic) {
      context = { directory: civic.service('directory'), publisher: civic.service('firehose'), url: civic.url, instance: civic.instance };
      civic.watch('directory.actors_changed', (event) => heard.push(event));
    },
  });
  const clock = stoppedClock(NOW);
  before(async () => { kit = await signalsKit({ database, clock, plugins: [listener], config: { jobs: { poll_seconds: 0.2 } } }); });
  after(async () => kit.close());

  const add = async (facts: Parameters<typeof said>[0], who?: string): Promise<string> => (await kit.send('POST', '/api/entities', said(facts), who)).id;
  const change = async (id: string, { sources, claims: add }: ReturnType<typeof said>, who?: string) => kit.send('PATCH', `/api/entities/${id}`, { sources, add }, who);
  /** Signals are told in order: once this one is there, nothing of what was done before is still to come. */
  const settled = async () => {
    const name = `Mark ${Math.random()}`;
    await add({ name });
    for (let tries = 0; (await kit.signals('&signal_type=actor_discovered')).every(({ title }) => title !== `${name} was added`); tries++) {
      if (tries > 400) throw new Error('Nothing more is told');
      await sleep(25);
    }
  };

  it('report that an actor was added, where, on what, and from which source', async () => {
    const id = await add({ name: 'Kansas City Tenants', place: 'kansas-city,missouri', issue_area: HOUSING, url: 'https://example.org/kct' });
    const [signal] = await kit.awaited(1, '&place=kansas-city-mo');
    expect(signal).to.include({ type: 'actor_discovered', title: 'Kansas City Tenants was added', visibility: 'public', source_class: 'directory', detected_at: NOW, occurred_at: NOW });
    expect(signal!.summary).to.equal('An organization in Kansas City, MO, about housing affordability. Known from 1 source.');
    expect(signal).to.include({ places: ['kansas-city,missouri'], issues: [HOUSING], actors: [{ id, name: 'Kansas City Tenants', type: 'organization', role: null }] });
    const [source] = (await kit.get(`/api/entities/${id}/sources`)).body.data;
    expect(signal!.evidence).to.equal([{
      source_id: source.id, source_url: 'https://example.org/kct', title: source.title, publisher: 'The Example', published_at: null, captured_at: NOW,
      passage: signal!.evidence[0]!.passage, locator: { start: 3, end: 20 }, content_hash: null,
    }]);
    expect(signal!.evidence[0]!.passage).to.match(/^It says: /);
  });

  it('cut long names and passages between characters', async () => {
    const names = ['a', 'ab'].map((start) => `${start}${'😀'.repeat(140)}`);
    for (const name of names) {
      const payload = said({ name, place: 'gladstone,missouri' });
      await kit.send('POST', '/api/entities', { ...payload, claims: payload.claims.map((claim) => ({ ...claim, excerpt: name.repeat(10) })) });
    }
    const signals = await kit.awaited(2, '&place=gladstone-mo');
    for (const { title, evidence } of signals) {
      expect([title.includes('…'), evidence[0]!.passage!.endsWith('…')]).to.equal([true, true]);
      expect(`${title}${evidence[0]!.passage}`).to.not.match(/\p{Surrogate}/u);
    }
  });

  it('cite sources with the longest addresses', async () => {
    const long = (number: number) => `https://example.org/${number}${'x'.repeat(1979)}`;
    const id = await add({ name: 'Long', place: 'belton,missouri' });
    const { sources: [source], claims: [claim] } = said({ name: 'Long' });
    const sources = [1, 2, 3].map((number) => ({ ...source!, local_id: `s${number}`, url: long(number), title: null, publication: 'p'.repeat(300) }));
    await kit.send('PATCH', `/api/entities/${id}`, { sources, add: sources.map(({ local_id }, at) => ({ ...claim!, value: `Long ${at}`, source_local_id: local_id })) });
    const [signal] = await kit.awaited(1, '&place=belton-mo&signal_type=new_source');
    expect(signal!.evidence.map(({ source_url }) => source_url).sort()).to.equal([1, 2, 3].map(long));
  });

  it('are found by the domain of their issue area, and by another spelling of their place', async () => {
    const { domain: { slug: domain } } = (await kit.get(`/api/issue-areas/${HOUSING}`)).body;
    expect((await kit.signals(`&issue=${domain}&place=kansascity,missouri`)).length).to.equal(1);
    for (const place of ['Kansas%20City,%20MO', 'kansas-city,mo', 'Kansas-City,Missouri']) expect(await kit.signals(`&issue=${domain}&place=${place}`), place).to.equal([]);
  });

  it('report private actors to their workspace, and to no other caller until they are published', async () => {
    const id = await add({ name: 'Secret Garden Club', visibility: 'workspace', place: 'liberty,missouri', url: 'https://secret.example.org/' }, 'member');
    const [own] = await kit.awaited(1, '&place=liberty-mo', 'member');
    expect(own).to.include({ visibility: 'workspace', title: 'Secret Garden Club was added' });
    await change(id, said({ name: 'Secret Garden Club', url: 'https://secret.example.org/second' }), 'member');
    await kit.awaited(2, '&place=liberty-mo', 'member');
    for (const path of ['/api/firehose?limit=200&visibility=public', '/api/firehose?limit=200', '/api/places/liberty-mo/signals']) expect((await kit.get(path, 'stranger')).text.toLowerCase(), path).to.not.contain('secret');

    await kit.send('POST', `/api/entities/${id}/publish`, {}, 'editor');
    const [told] = await kit.awaited(1, '&place=liberty-mo');
    expect(told).to.include({ type: 'actor_discovered', visibility: 'public', title: 'Secret Garden Club was added' });
    expect(told!.evidence.map(({ source_url }) => source_url).sort()).to.equal(['https://secret.example.org/', 'https://secret.example.org/second']);
  });

  it('report new sources, and only those', async () => {
    const id = await add({ name: 'Bridge Club', place: 'parkville,missouri', url: 'https://example.org/bridge' });
    await change(id, said({ name: 'Bridge Club', url: 'https://example.org/bridge/2' }));
    const [signal] = await kit.awaited(1, '&place=parkville-mo&signal_type=new_source');
    expect(signal).to.include({ title: 'A new source for Bridge Club', changes: [{ field: 'source_count', before: 1, after: 2 }] });
    expect(signal!.evidence.map(({ source_url }) => source_url)).to.equal(['https://example.org/bridge/2']);
    await change(id, said({ name: 'Bridge Club', description: 'We build bridges.', url: 'https://example.org/bridge/2' }));
    const two = said({ name: 'The Bridge Club', url: 'https://example.org/bridge/3' });
    const three = said({ name: 'The Bridge Club!', url: 'https://example.org/bridge/4' });
    await kit.send('PATCH', `/api/entities/${id}`, {
      sources: [two.sources[0], { ...three.sources[0]!, local_id: 't' }], add: [two.claims[0], { ...three.claims[0]!, source_local_id: 't' }],
    });
    const [later] = await kit.awaited(2, '&place=parkville-mo&signal_type=new_source');
    expect(later!.title).to.match(/^2 new sources for .*Bridge Club/);
    await settled();
    expect((await kit.signals('&place=parkville-mo')).length).to.equal(3);
  });

  it('report a merge once, and not its sources', async () => {
    const into = await add({ name: 'River Friends', place: 'platte-city,missouri' });
    const id = await add({ name: 'Friends of the River', place: 'platte-city,missouri' });
    await kit.awaited(2, '&place=platte-city-mo');
    await kit.send('POST', `/api/entities/${id}/merge`, { into, reason: 'The same people' });
    const [signal] = await kit.awaited(1, '&place=platte-city-mo&signal_type=actor_merged');
    expect(signal!.title).to.equal('Friends of the River was merged into River Friends');
    expect(signal!.changes).to.equal([{ field: 'id', before: id, after: into }]);
    expect(signal!.evidence.length).to.equal(2);
    await settled();
    expect((await kit.signals('&place=platte-city-mo')).map(({ type }) => type)).to.equal(['actor_merged', 'actor_discovered', 'actor_discovered']);
    await kit.send('DELETE', `/api/entities/${into}`, undefined);
    await kit.awaited(0, '&place=platte-city-mo');
  });

  it('are withdrawn with the actor that they name', async () => {
    const id = await add({ name: 'Vanishing Point', place: 'smithville,missouri' });
    await kit.awaited(1, '&place=smithville-mo');
    await kit.send('DELETE', `/api/entities/${id}`, undefined);
    await kit.awaited(0, '&place=smithville-mo');
    expect((await kit.get('/api/firehose?limit=200', 'stranger')).text).to.not.contain('Vanishing Point');
  });

  it('report once that an issue area is no longer covered, and once that no actor is left', async () => {
    const ids: string[] = [];
    const one = async () => ids.push(await add({ name: `Housing group ${ids.length}`, place: 'grandview,missouri', issue_area: HOUSING }));
    const gaps = '&place=grandview-mo&signal_type=coverage_gap';
    const remove = async () => kit.send('DELETE', `/api/entities/${ids.pop()!}`, undefined);
    for (let count = 0; count < 3; count++) await one();
    await remove();
    const [thin] = await kit.awaited(1, gaps);
    expect(thin).to.include({ title: 'Only two actors work on housing affordability in Grandview, Missouri now', changes: [{ field: 'entity_count', before: 3, after: 2 }], supersedes: null });
    expect(thin!.actors.map(({ id }) => id).sort()).to.equal([...ids].sort());
    expect(thin!.evidence[0]!.source_url).to.match(/\/api\/places\/grandview,missouri\/coverage$/);
    expect(thin!.evidence.length).to.equal(3);
    await remove();
    await remove();
    await settled();
    const [missing] = await kit.awaited(1, gaps);
    expect(missing).to.include({ title: 'Nobody works on housing affordability in Grandview, Missouri any more', supersedes: thin!.id, actors: [] });
    await one();
    await remove();
    await settled();
    expect((await kit.signals(gaps)).map(({ id }) => id)).to.equal([missing!.id]);
    for (let count = 0; count < 3; count++) await one();
    await remove();
    expect((await kit.awaited(2, gaps))[0]!.title).to.match(/^Only two actors/);
  });

  it('leave out what an import brings', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'civic-signals-'));
    const file = join(folder, 'few.ndjson');
    const source = { id: 's', url: 'https://import.example.org/', kind: 'other' };
    writeFileSync(file, `${JSON.stringify({ type: 'organization', sources: [source], claims: [{ property: 'name', value: 'Imported', source_id: 's' }, { property: 'type', value: 'organization', source_id: 's' }] })}\n`);
    const { counts } = await kit.run('import', ['ndjson', file]);
    rmSync(folder, { recursive: true });
    expect(counts.created).to.equal(1);
    await settled();
    expect((await kit.get('/api/firehose?limit=200', 'stranger')).text).to.not.contain('Imported');
  });

  it('report nothing twice when an event is delivered again', async () => {
    await settled();
    const head = async () => sequenceOf((await kit.get('/api/firehose?limit=1', 'stranger')).body.last_event_id);
    const before = await head();
    expect(heard.length).to.be.above(20);
    for (const event of heard) await kit.db.write((tx) => publishActorChanges(context, tx, event));
    await settled();
    expect(await head(), 'nothing but the mark').to.equal(before + 1);
  });

  it('report once that an actor has not been seen for long, and that an actor was seen again', async () => {
    const id = await add({ name: 'Old Acquaintance', place: 'raytown,missouri', phone: '+18165550123', seen: '2026-01-01T00:00:00Z' });
    await add({ name: 'Hidden Acquaintance', place: 'raytown,missouri', phone: '+18165550124', seen: '2026-01-01T00:00:00Z', visibility: 'workspace' }, 'member');
    const turns = '&place=raytown-mo&signal_type=freshness_change';
    for (let days = 0; days < 181; days++) clock.advance(86_400_000);
    const [aging] = await kit.awaited(1, turns);
    expect(aging).to.include({ title: 'What is known of Old Acquaintance is getting old', changes: [{ field: 'freshness', before: 'fresh', after: 'aging' }] });
    expect((await kit.awaited(2, turns, 'member')).map(({ visibility }) => visibility).sort()).to.equal(['public', 'workspace']);
    for (let hours = 0; hours < 6; hours++) {
      clock.advance(4 * 3_600_000);
      await sleep(100);
    }
    expect((await kit.signals(turns, 'member')).length).to.equal(2);
    await change(id, said({ name: 'Old Acquaintance', phone: '+18165550123', place: 'raytown,missouri', url: 'https://example.org/again' }));
    const again = await kit.awaited(2, turns);
    expect(again[0]).to.include({ title: 'Old Acquaintance was looked at again', changes: [{ field: 'freshness', before: 'aging', after: 'fresh' }] });
  });
});
