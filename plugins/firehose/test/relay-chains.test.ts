import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testDatabases } from 'civic/testing';
import type { Signal } from '../types.ts';
import { herons } from './herons.ts';
import { byId, createInstances, draft, frontDoor, lineCount, publish, settled, signalsOf, titlesOf, until } from './relay-kit.ts';

export const notQuick = 'it runs several instances';
export const lab = Lab.script();
const { describe, it, afterEach } = lab;

for (const database of testDatabases()) {
  describe(`Relays of several instances on ${database}`, { timeout: 120_000 }, () => {
    const { instance, lines, close } = createInstances(database);
    afterEach(close);

    it('names the instance that it follows along a chain, and ends cycles', async () => {
      const front = await frontDoor();
      const first = await instance({ url: front.url });
      const second = await instance({ url: first.url });
      const third = await instance({ url: second.url });
      front.lead(third.url);
      const [id] = await publish(first, { signals: [draft('Round')] });
      await until('the third', async () => (await titlesOf(third)).length === 1);
      expect((await signalsOf(third))[0]).to.include({ id, title: 'Round' });
      expect((await signalsOf(third))[0]!.origin!.url).to.equal(second.url);
      // The version comes back to the first after the first retracted it.
      const [brief] = await publish(first, { signals: [draft('Brief')] });
      await publish(first, { withdraw: [brief!] });
      await until('the retraction', async () => await lineCount(third) === 3);
      await settled([first, third], [second, first], [third, second]);
      expect(await Promise.all([first, second, third].map(lineCount))).to.equal([3, 3, 3]);
      expect((await signalsOf(first))[0]!.origin).to.be.null();
    });

    it('does not relay signals that it published first', async () => {
      const front = await frontDoor();
      const a = await instance({ url: front.url });
      const b = await instance({ url: a.url });
      front.lead(b.url);
      const [id] = await publish(a, { signals: [draft('Mine')] });
      await publish(a, { signals: [draft('Mine, better', { id })] });
      await until('the copy', async () => (await titlesOf(b))[0] === 'Mine, better');
      const [theirs] = await publish(b, { signals: [draft('Theirs')] });
      await until('theirs', async () => (await titlesOf(a)).length === 2);
      await publish(b, { withdraw: [theirs!] });
      await until('its end', async () => (await titlesOf(a)).length === 1);
      await settled([a, b], [b, a]);
      // The retraction comes back to b, where the signal is gone: the relay skips it.
      expect([await lineCount(a), await lineCount(b)]).to.equal([4, 4]);
      expect((await signalsOf(a))[0]).to.include({ title: 'Mine, better', origin: null });
    });

    it('reads all signals again when the followed log is gone, and withdraws those that no longer exist', async () => {
      const front = await frontDoor();
      const lost = await instance(null);
      front.lead(lost.url);
      const relay = await instance({ url: front.url });
      const stays = draft('Stays', { detected_at: '2026-03-01T00:00:00.000Z' });
      const ids = await publish(lost, { signals: [draft('Forgotten by age', { detected_at: '2025-01-01T00:00:00.000Z' }), stays, draft('Changes'), draft('Goes')] });
      await until('all', async () => (await titlesOf(relay)).length === 4);
      await publish(relay, { signals: [draft('Of its own')] });

      const restored = await instance(null);
      await publish(restored, { signals: [{ ...stays, id: ids[1] }, draft('Changed', { id: ids[2] }), draft('New')] });
      front.lead(restored.url);
      await lost.composition.stop();
      await until('the change', async () => (await titlesOf(relay)).includes('New') && !(await titlesOf(relay)).includes('Goes'));
      expect(await titlesOf(relay)).to.equal(['Changed', 'Forgotten by age', 'New', 'Of its own', 'Stays']);
      await publish(restored, { signals: [draft('Later')] });
      await until('what comes later', async () => (await titlesOf(relay)).includes('Later'));
      // What was the same was not told again.
      expect(await lineCount(relay)).to.equal(9);
      expect(lines.find(({ reason }) => reason === 'epoch_changed')!['msg']).to.contain('read again');
    });

    // Decided before anything is written: the same on every database.
    if (database === 'sqlite') {
      it('publishes signals of a declared type with their facts where a plugin declares the type, and skips them elsewhere', async () => {
        const count = (title: string, birds: number) => draft(title, { type: 'heron_count', facts: { birds, site: 'The pond' } });
        const origin = await instance(null, {}, [herons]);
        const [knowing, plain] = [await instance({ url: origin.url }, {}, [herons]), await instance({ url: origin.url })];
        const [id] = await publish(origin, { signals: [count('Two herons', 2), count('Nine herons', 9), draft('A vote')] });
        await publish(origin, { signals: [{ ...count('Three herons', 3), id: id! }, draft('Another vote')] });
        await until('all of them', async () => (await titlesOf(knowing)).length === 4 && (await titlesOf(knowing)).includes('Three herons'));
        expect((await signalsOf(knowing)).map((signal): Signal => ({ ...signal, origin: null })).sort(byId)).to.equal((await signalsOf(origin)).sort(byId));
        await until('the votes', async () => (await titlesOf(plain)).includes('Another vote'));
        expect(await titlesOf(plain)).to.equal(['A vote', 'Another vote']);
        expect(lines.filter(({ type }) => type === 'heron_count'), 'the type is named once').to.have.length(1);
        expect((await plain.request('GET', '/health/ready')).body.checks).to.include({ name: 'relay', status: 'ok' });
      });
    }
  });
}
