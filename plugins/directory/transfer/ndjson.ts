import { Failure } from 'civic';
import type { Format, ReadContext, Row, WriteContext } from './format.ts';
import type { TextFile } from './file.ts';
import { parseItem } from './json.ts';
import { linesOf } from './lines.ts';
import { draftsOf, judgementOf, ownActor, placeOf, type OwnActor } from './own.ts';

/** Begins the first line, which says what the file is; then come places of its own, actors, a line each, and judgements. */
interface Header {
  civic_export: 1;
  generator: string;
  instance: string;
  about: string;
}

type Line = Partial<Header> & Partial<OwnActor> & { judgement?: unknown; place?: unknown };

export const ndjson: Format = {
  name: 'ndjson',
  isOwn: true,
  summary: 'The kit’s own: an actor a line with its claims and sources, nothing left out',
  type: 'application/x-ndjson',
  extension: '.ndjson',
  reads,
  writes,
};

async function* reads(file: TextFile, _context: ReadContext): AsyncIterable<Row> {
  let isKnown = false;
  for await (const { number, line } of linesOf(file.text())) {
    const parsed = parseItem(line);
    if (!isKnown) isKnown = refuseOther(parsed, line);
    if ('fault' in parsed) yield { number, raw: line, fault: parsed.fault };
    else if (!('civic_export' in parsed.value)) yield* rowsOf(number, parsed.value);
  }
}

function* rowsOf(number: number, line: Line): Iterable<Row> {
  if (line.judgement !== undefined) {
    const judgement = judgementOf(line.judgement);
    yield typeof judgement === 'string' ? { number, raw: line, fault: judgement } : { number, raw: line, judgement };
    return;
  }
  if (line.place !== undefined) {
    const place = placeOf(line.place);
    yield typeof place === 'string' ? { number, raw: line, fault: place } : { number, raw: line, place };
    return;
  }
  const drafts = draftsOf(line);
  if (typeof drafts === 'string') yield { number, raw: line, fault: drafts };
  else for (const draft of drafts) yield { number, raw: line, draft, notes: [] };
}

/** A file whose first line is nothing of ours is another kind of file, not a million bad rows. */
function refuseOther(parsed: ReturnType<typeof parseItem>, line: string): true {
  if ('value' in parsed) {
    const { civic_export: version, claims, judgement, place } = parsed.value as Line;
    if (version !== undefined && version !== 1) throw new Failure(`This file has version ${String(version)} of the format, and this kit reads version 1: import it with a newer one`);
    if (version || claims || judgement || place) return true;
  }
  throw new Failure(`This is not the kit’s own NDJSON: the first line is ${JSON.stringify(line.slice(0, 60))}`);
}

async function* writes({ instance, actors, judgements, places }: WriteContext): AsyncIterable<string> {
  const header: Header = {
    civic_export: 1,
    generator: `civic ${instance.version}`,
    instance: instance.url,
    about: 'Each line is an actor with its claims and sources; lines with a judgement say which records are the same, lines with a place what no gazetteer has. See docs/importing.md.',
  };
  yield JSON.stringify(header);
  for (const place of await places()) yield JSON.stringify({ place });
  for await (const exported of actors()) yield JSON.stringify(ownActor(exported));
  for await (const judgement of judgements()) yield JSON.stringify({ judgement });
}
