import { setTimeout as sleep } from 'node:timers/promises';
import type { Query } from '../../../plugins/firehose/types.ts';
import type { Asker } from './askers.ts';
import type { Contract } from './contract.ts';
import { parametersOf } from './drafts.ts';
import { hashOf } from './model.ts';
import type { Nodes, ServerNode } from './nodes.ts';
import type { Random } from './random.ts';
import { keyHeader, seqOf, walk, type Walk } from './snapshots.ts';
import { openEvents, openSocket, type Connection, type Frame } from './streams.ts';

export type Transport = 'events' | 'session events' | 'socket';

/** What came, in its order: signals, and positions that the server says have been reached. */
export type Seen = { kind: 'signal'; seq: number; retracted: boolean; id: string; hash: string } | { kind: 'position'; seq: number };

/** One connection of a follower's life. */
export interface Segment {
  /** The id that was presented. */
  requested: string | null;
  /** With none presented, the places where a session may go on. */
  remembered: number[];
  ready: { seq: number; resume: { requested: string | null; status: string; from: unknown } } | null;
  seen: Seen[];
}

export interface Follower {
  name: string;
  asker: Asker;
  query: Query;
  /** Whether it reads a session. */
  isSession: boolean;
  /** What it found before it streamed. */
  base: Walk | null;
  segments: Segment[];
  cuts: { torn: number; stalled: number; ended: number };
  /** Goes on undisturbed from now on. */
  settle(): void;
  stop(): Promise<void>;
}

export interface FollowerOptions {
  random: Random;
  nodes: Nodes;
  contract: Contract;
  faults: string[];
  asker: Asker;
  query: Query;
  transport: Transport;
  start: 'live' | 'zero' | 'snapshot';
  /** How long a connection lives at most before it is cut. */
  lifeMs: number;
}

export function startFollower(options: FollowerOptions): Follower {
  const { random, nodes, contract, faults, asker, query, transport } = options;
  const segments: Segment[] = [];
  const cuts = { torn: 0, stalled: 0, ended: 0 };
  const remembered: number[] = [];
  const ids: string[] = [];
  let last: string | null = options.start === 'zero' ? '0' : null;
  let base: Walk | null = null;
  let session: string | null = null;
  /** A session begins where the log is when it is made, which is no later than this. */
  let born = Infinity;
  let connection: Connection | null = null;
  /** Whether a presented id is known to have arrived, from where a session can go on. */
  let isRemembered = false;
  let isTorn = false;
  let isSettled = false;
  let isStopped = false;
  const name = `${asker.name} by ${transport} from ${options.start}`;

  const complain = (words: string): void => { faults.push(`${name}: ${words}`); };

  function take(segment: Segment, { event, id, data }: Frame): void {
    const fault = contract.messageFault(event, data);
    if (fault) complain(fault);
    if (id !== null && id !== data.event_id) complain(`the id of ${event} is ${id}, in the message ${data.event_id}`);
    const place: string | null = transport === 'socket' ? data.event_id : id;
    if (place !== null) {
      last = place;
      ids.push(place);
    }
    if (event === 'firehose.ready') {
      if (segment.ready) complain('there was a second ready');
      segment.ready = { seq: seqOf(data.event_id), resume: data.resume };
    } else if (!segment.ready) complain(`${event} came before ready`);
    else if (event === 'firehose.signal') {
      segment.seen.push({ kind: 'signal', seq: seqOf(data.event_id), retracted: data.retracted === true, id: data.signal.id, hash: hashOf(data.signal) });
    } else if (data.event_id) segment.seen.push({ kind: 'position', seq: seqOf(data.event_id) });
  }

  /** Mostly the last id; sometimes an older one, as of a client that had not yet stored the last; of a session also none. */
  function presented(): string | null {
    if (isRemembered && random.chance(0.3)) return null;
    return ids.length > 0 && random.chance(0.1) ? ids[Math.max(0, ids.length - 1 - random.int(20))]! : last;
  }

  async function openSession(node: ServerNode): Promise<string | null> {
    const { cursor: _cursor, ...asked } = query;
    try {
      const answer = await fetch(`${node.url}/api/firehose/sessions`, {
        method: 'POST', headers: { 'content-type': 'application/json', ...keyHeader(asker) },
        body: JSON.stringify({ query: asked, delivery: { mode: transport === 'socket' ? 'websocket' : 'sse' } }),
      });
      const body: any = await answer.json();
      if (answer.status === 201) return body.id;
      if (answer.status !== 503 || !node.isStopping) complain(`a session was answered ${answer.status}: ${JSON.stringify(body).slice(0, 200)}`);
    } catch {
      await sleep(50);
    }
    return null;
  }

  function open(node: ServerNode, segment: Segment): Connection {
    const path = transport === 'events' ? '/api/firehose' : `/api/firehose/sessions/${session}/${transport === 'socket' ? 'socket' : 'events'}`;
    const parameters = transport === 'events' ? parametersOf(query, true) : new URLSearchParams();
    const headers = keyHeader(asker);
    if (segment.requested !== null && random.chance(0.5)) headers['last-event-id'] = segment.requested;
    else if (segment.requested !== null) parameters.set('last_event_id', segment.requested);
    if (session !== null && segment.requested !== null && segment.requested !== '0') remembered.push(seqOf(segment.requested));
    const opening = {
      url: `${node.url}${path}?${parameters}`, headers,
      onFrame: (frame: Frame) => {
        take(segment, frame);
        if (transport === 'socket' && last !== null && random.chance(0.1)) {
          remembered.push(seqOf(last));
          connection?.send?.({ type: 'ack', event_id: last });
        }
      },
      onOpen: (status: number, body: string) => { if (![200, 101].includes(status) && !(status === 503 && node.isStopping)) complain(`it was answered ${status} ${body.slice(0, 200)}`); },
    };
    return transport === 'socket' ? openSocket(opening) : openEvents(opening);
  }

  async function disturb(open: Connection, isOpen: () => boolean): Promise<void> {
    await sleep(random.int(options.lifeMs));
    if (isSettled || !isOpen()) return;
    if (random.chance(0.3)) {
      open.pause();
      cuts.stalled += 1;
      await sleep(random.int(options.lifeMs));
      open.resume();
      if (random.chance(0.5)) await sleep(random.int(options.lifeMs));
    }
    if (isSettled || !isOpen()) return;
    isTorn = true;
    open.destroy();
  }

  async function connect(node: ServerNode): Promise<void> {
    if (transport !== 'events' && session === null) {
      session = await openSession(node);
      born = (await walk(nodes, random, { contract, faults, asker, query: { ...query, limit: 1 } }, 1)).pages[0]?.seq ?? Infinity;
      return;
    }
    const segment: Segment = { requested: presented(), remembered: [...remembered], ready: null, seen: [] };
    segments.push(segment);
    let isOpen = true;
    isTorn = false;
    connection = open(node, segment);
    const disturbing = isSettled ? null : disturb(connection, () => isOpen);
    await connection.closed;
    isOpen = false;
    if (!isStopped) cuts[isTorn ? 'torn' : 'ended'] += 1;
    if (segment.ready && segment.requested !== null && seqOf(segment.requested) >= born) isRemembered = true;
    await disturbing;
  }

  async function work(): Promise<void> {
    if (options.start === 'snapshot') {
      base = await walk(nodes, random, { contract, faults, asker, query: { ...query, limit: 50 } });
      if (!base.isWhole) complain('it could not read a whole snapshot');
      last = base.pages[0]?.lastEventId ?? null;
    }
    while (!isStopped) {
      const node = nodes.any(random);
      if (node) await connect(node);
      await sleep(10 + random.int(50));
    }
  }

  const working = work();
  return {
    name, asker, query, segments, cuts,
    isSession: transport !== 'events',
    get base() { return base; },
    settle() {
      isSettled = true;
      connection?.resume();
    },
    async stop() {
      isStopped = true;
      connection?.destroy();
      await working;
    },
  };
}
