import { definePlugin, type Services } from 'civic';
import type { Document, DocumentInput } from 'civic/reader';
import { testServer } from 'civic/testing';
import { ADAPTERS } from '../adapters/adapters.ts';
import type { MeetingRow, Row } from '../adapters/types.ts';

export interface Reading {
  read(body: string | Uint8Array, input?: Partial<DocumentInput>): Promise<Document>;
  /** Reads a text with the adapter that is most certain of it; returns its name and its rows. */
  rows(body: string | Uint8Array, input?: Partial<DocumentInput>): Promise<{ adapter: string | null; rows: Row[] }>;
  /** The same, for rows that are all meetings. */
  meetings(body: string | Uint8Array, input?: Partial<DocumentInput>): Promise<{ adapter: string | null; rows: MeetingRow[] }>;
  close(): Promise<void>;
}

/** A day in winter, so that times in Chicago are six hours behind UTC. */
export const NOW = Date.parse('2026-02-01T12:00:00Z');
export const CONTEXT = { now: NOW, time_zone: 'America/Chicago', open: async () => null, leaveOut: () => undefined };

/** Starts the reader, whose documents the adapters get. */
export async function startReading(): Promise<Reading> {
  let service: Services['reader'];
  const user = definePlugin({ name: 'listener', summary: 'Reads documents for tests', needs: ['reader'], register: (_server, civic) => ({ async start() { service = civic.service('reader'); } }) });
  const kit = await testServer({ plugins: ['reader', user] });
  const read: Reading['read'] = (body, input = {}) => service.document({ url: 'https://city.example/meetings', content_type: 'text/html', window: { start: '2026-01-01', end: '2027-01-01' }, ...input, body: typeof body === 'string' ? Buffer.from(body) : body });
  const rows: Reading['rows'] = async (body, input) => {
    const document = await read(body, input);
    const [best] = ADAPTERS.map((adapter) => ({ adapter, score: adapter.recognises(document) })).filter(({ score }) => score > 0).toSorted((left, right) => right.score - left.score);
    return { adapter: best?.adapter.name ?? null, rows: best ? await best.adapter.rows(document, CONTEXT) : [] };
  };
  const meetings: Reading['meetings'] = async (body, input) => {
    const found = await rows(body, input);
    return { adapter: found.adapter, rows: found.rows.map((row) => { if (row.kind !== 'meeting') throw new Error(`A row is a ${row.kind}`); return row; }) };
  };
  return { read, rows, meetings, close: () => kit.close() };
}

/** What a test compares first. */
export function short({ title, start, location, status }: MeetingRow): [string, string | null, string | null, string] {
  return [title, start, location, status];
}
