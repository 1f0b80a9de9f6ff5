import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { compareChores, compareEvents, compareNotes, compareOrder, type Acknowledged, type Told } from './compare.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const notes: Acknowledged[] = [
  { writer: 0, id: 'a', text: 'first' },
  { writer: 1, id: 'b', text: 'second' },
  { writer: 0, id: 'c', text: 'third' },
];
const sent = new Set(['first', 'second', 'third', 'unanswered']);
const told: Told[] = [{ seq: 1, id: 'a' }, { seq: 2, id: 'b' }, { seq: 3, id: 'c' }];
const [first, second, third] = told as [Told, Told, Told];

describe('What the crash tests compare', () => {
  it('is content with what was acknowledged, and with a note whose answer was lost on the way', () => {
    expect(compareNotes(notes, notes, sent)).to.equal([]);
    expect(compareNotes(notes, [...notes, { id: 'd', text: 'unanswered' }], sent)).to.equal([]);
    expect(compareEvents(notes, told, told)).to.equal([]);
    expect(compareOrder(notes, told)).to.equal([]);
  });

  it('notices a lost note', () => {
    expect(compareNotes(notes, notes.slice(1), sent)).to.equal(['1 acknowledged notes are lost: first']);
  });

  it('notices a doubled note', () => {
    expect(compareNotes(notes, [...notes, { id: 'd', text: 'first' }], sent)).to.equal(['1 notes are there more than once: first']);
  });

  it('notices a changed note, and one that was never sent', () => {
    expect(compareNotes(notes, [...notes.slice(1), { id: 'a', text: 'fir' }], sent)).to.equal(['1 acknowledged notes have another text: first', '1 notes were never sent: fir']);
  });

  it('notices half of a write: a note without its event, an event without its note', () => {
    expect(compareEvents(notes, [first, second], [first, second])).to.equal(['1 notes have no event: third']);
    expect(compareEvents(notes.slice(0, 2), told, told)).to.equal(['1 events have no note: 3 of c']);
  });

  it('notices an event that was logged twice, and a gap in the numbers', () => {
    expect(compareEvents(notes, [...told, { seq: 4, id: 'c' }], [...told, { seq: 4, id: 'c' }])).to.equal(['1 notes have more than one event: c', '1 notes were delivered more than once: c']);
    const shifted = [first, second, { seq: 4, id: 'c' }];
    expect(compareEvents(notes, shifted, shifted)).to.equal(['1 events are not numbered one after the other: 4 of c']);
  });

  it('notices an event that was lost, doubled, changed or delivered out of order', () => {
    expect(compareEvents(notes, told, [first, third])).to.equal(['1 events were not delivered: 2 of b']);
    expect(compareEvents(notes, told, [first, second, third, third])).to.equal(['1 notes were delivered more than once: c', '1 events were delivered out of order: 3 of c']);
    expect(compareEvents(notes, told, [first, third, second])).to.equal(['1 events were delivered out of order: 2 of b']);
    expect(compareEvents(notes, told, [first, second, { seq: 3, id: 'b' }])).to.have.length(3);
  });

  it('notices that one writer’s notes changed places', () => {
    expect(compareOrder(notes, [{ seq: 1, id: 'c' }, { seq: 2, id: 'b' }, { seq: 3, id: 'a' }])).to.equal(['1 notes were told after a later one of the same writer: third']);
  });

  it('notices a chore that was lost, never done, or begun too often', () => {
    const done = { id: 'a', done: 1, runs: 1 };
    expect(compareChores(['a'], [done], 0)).to.equal([]);
    expect(compareChores(['a', 'b'], [done], 0)).to.equal(['1 acknowledged chores are lost: b']);
    expect(compareChores(['a'], [{ ...done, done: 0 }], 0)).to.equal(['1 chores were never done: a']);
    expect(compareChores(['a'], [{ ...done, runs: 3 }], 1)).to.have.length(1);
  });

  it('shows three examples of many', () => {
    expect(compareNotes(notes.concat({ writer: 2, id: 'd', text: 'fourth' }), [], sent)).to.equal(['4 acknowledged notes are lost: first, second, third, …']);
  });
});
