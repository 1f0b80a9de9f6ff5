import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { stoppedClock } from '../clock.ts';
import { isId, newId } from '../ids.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('Ids', () => {
  it('are UUIDs of version 7 with the variant of RFC 9562', () => {
    for (let i = 0; i < 2000; i++) expect(newId()).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('never repeat and sort by the time they were made', () => {
    const ids = Array.from({ length: 5000 }, (_, i) => newId(1_700_000_000_000 + i));
    expect(new Set(ids).size).to.equal(ids.length);
    expect([...ids].sort()).to.equal(ids);
  });

  it('carry their time', () => {
    expect(parseInt(newId(1_700_000_000_123).replace('-', '').slice(0, 12), 16)).to.equal(1_700_000_000_123);
  });

  it('are recognised in any version and case, and nothing else is', () => {
    expect(isId('0190F7C2-1111-7ABC-9DEF-000000000001')).to.be.true();
    expect(isId('6ba7b810-9dad-11d1-80b4-00c04fd430c8')).to.be.true();
    for (const wrong of ['', '0190f7c2', '0190f7c2-1111-7abc-9def-00000000000', '0190f7c2-1111-9abc-9def-000000000001', ' 0190f7c2-1111-7abc-9def-000000000001', null, 7]) {
      expect(isId(wrong)).to.be.false();
    }
  });
});

describe('The stopped clock', () => {
  it('stands still until it is moved', () => {
    const clock = stoppedClock('2026-03-01T12:00:00.000Z');
    expect(clock.iso()).to.equal('2026-03-01T12:00:00.000Z');
    clock.advance(1500);
    expect(clock.iso()).to.equal('2026-03-01T12:00:01.500Z');
    clock.set('2027-01-01T00:00:00Z');
    expect(clock.now()).to.equal(Date.parse('2027-01-01T00:00:00Z'));
  });
});
