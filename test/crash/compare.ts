/** A note as it was acknowledged, by which writer, in the order of its acknowledgements. */
export interface Acknowledged {
  writer: number;
  id: string;
  text: string;
}

export interface Found {
  id: string;
  text: string;
}

/** An event, in the log or as it was delivered. */
export interface Told {
  seq: number;
  /** Of the note. */
  id: string;
}

const SHOWN = 3;

function fault(words: string, examples: string[]): string[] {
  if (examples.length === 0) return [];
  const shown = examples.slice(0, SHOWN).join(', ');
  return [`${examples.length} ${words}: ${shown}${examples.length > SHOWN ? ', …' : ''}`];
}

function repeated(values: string[]): string[] {
  const seen = new Set<string>();
  return values.filter((value) => seen.size === seen.add(value).size);
}

/** What was acknowledged is there, once, as it was sent; what was not may be there, once. Nothing else is. */
export function compareNotes(acknowledged: Acknowledged[], found: Found[], sent: Set<string>): string[] {
  const texts = new Map(found.map(({ id, text }) => [id, text]));
  return [
    ...fault('acknowledged notes are lost', acknowledged.filter(({ id }) => !texts.has(id)).map(({ text }) => text)),
    ...fault('acknowledged notes have another text', acknowledged.filter(({ id, text }) => texts.has(id) && texts.get(id) !== text).map(({ text }) => text)),
    ...fault('notes are there more than once', repeated(found.map(({ text }) => text))),
    ...fault('notes were never sent', found.filter(({ text }) => !sent.has(text)).map(({ text }) => text)),
  ];
}

/** Every stored note has its event, every event its note, numbered without holes; and the digest heard just these, in order. */
export function compareEvents(found: Found[], log: Told[], digest: Told[]): string[] {
  const notes = new Set(found.map(({ id }) => id));
  const told = new Set(log.map(({ id }) => id));
  const words = ({ seq, id }: Told): string => `${seq} of ${id}`;
  const heard = new Set(digest.map(words));
  const logged = new Set(log.map(words));
  return [
    ...fault('notes have no event', found.filter(({ id }) => !told.has(id)).map(({ text }) => text)),
    ...fault('events have no note', log.filter(({ id }) => !notes.has(id)).map(words)),
    ...fault('notes have more than one event', repeated(log.map(({ id }) => id))),
    ...fault('events are not numbered one after the other', log.filter(({ seq }, index) => seq !== index + 1).map(words)),
    ...fault('events were not delivered', log.filter((event) => !heard.has(words(event))).map(words)),
    ...fault('events were delivered that are not in the log', digest.filter((event) => !logged.has(words(event))).map(words)),
    ...fault('notes were delivered more than once', repeated(digest.map(({ id }) => id))),
    ...fault('events were delivered out of order', digest.filter(({ seq }, index) => index > 0 && seq <= digest[index - 1]!.seq).map(words)),
  ];
}

/** A writer waits for each answer before it sends the next note, so its notes are told in the order it sent them. */
export function compareOrder(acknowledged: Acknowledged[], digest: Told[]): string[] {
  const seqs = new Map(digest.map(({ seq, id }) => [id, seq]));
  const last = new Map<number, number>();
  const late = acknowledged.filter(({ writer, id }) => {
    const seq = seqs.get(id);
    if (seq === undefined) return false;
    const isLate = seq < (last.get(writer) ?? 0);
    last.set(writer, seq);
    return isLate;
  });
  return fault('notes were told after a later one of the same writer', late.map(({ text }) => text));
}

export interface FoundChore {
  id: string;
  done: number;
  runs: number;
}

/** Everything ordered is done; it is begun again only when a process died with it in hand. */
export function compareChores(acknowledged: string[], found: FoundChore[], mostRepeated: number): string[] {
  const chores = new Map(found.map((chore) => [chore.id, chore]));
  const again = found.reduce((sum, { runs }) => sum + Math.max(0, runs - 1), 0);
  return [
    ...fault('acknowledged chores are lost', acknowledged.filter((id) => !chores.has(id))),
    ...fault('chores were never done', found.filter(({ done }) => done === 0).map(({ id }) => id)),
    ...(again > mostRepeated ? [`chores were begun again ${again} times, though processes died with at most ${mostRepeated} in hand`] : []),
  ];
}
