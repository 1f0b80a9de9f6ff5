import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../core/test/wait.ts';
import { untilIdle } from './nodes.ts';
import { keyHeader } from './snapshots.ts';
import { ask, tail, type Stand, type Tail, type Waited } from './stand.ts';

/** Opens many, some at a time. */
async function many<T>(count: number, open: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let from = 0; from < count; from += 200) made.push(...await Promise.all(Array.from({ length: Math.min(200, count - from) }, (_, index) => open(from + index))));
  return made;
}

async function opened(url: string, asker: Parameters<typeof tail>[1], options?: Parameters<typeof tail>[2]): Promise<Tail> {
  const one = tail(url, asker, options);
  await one.untilReady();
  return one;
}

export interface Figures {
  [name: string]: number;
}

/** SIGTERM while so many streams are open. */
export async function stopWithStreams({ world, nodes, url, publish }: Stand, count: number): Promise<Figures> {
  await publish(3);
  const tails = await many(count, () => opened(`${url()}/api/firehose?visibility=public&last_event_id=0`, world.asker('nobody')));
  await Promise.all(tails.map((one) => one.until(3)));
  const started = performance.now();
  await nodes.stop();
  const seconds = (performance.now() - started) / 1000;
  await Promise.all(tails.map((one) => one.untilEnded()));
  return { streams: count, seconds, unclean: tails.filter(({ ended }) => !ended!.isClean).length };
}

/** So many sessions, each with an idle consumer; the server dies and comes back, and one signal is told to all. */
export async function sessionsOverRestart({ world, nodes, url, publish, session }: Stand, count: number): Promise<Figures> {
  const asker = world.asker('owner');
  const sessions = await many(count, (index) => session(asker, { places: [`place-${index % 100},nowhere`], visibility: 'public' }));
  const open = (id: string, last: string | null): Promise<Tail> => opened(`${url()}/api/firehose/sessions/${id}/events`, asker, { last });
  const before = await many(count, (index) => open(sessions[index]!, null));
  await nodes.restart(0, 'SIGKILL', 0);
  await Promise.all(before.map((one) => one.untilEnded()));
  const after = await many(count, (index) => open(sessions[index]!, before[index]!.lastId));
  const started = performance.now();
  await publish([{ places: Array.from({ length: 100 }, (_, index) => `place-${index},nowhere`) }]);
  await until(() => after.every(({ signals }) => signals.length > 0), 60_000).catch(() => undefined);
  const seconds = (performance.now() - started) / 1000;
  for (const { connection } of after) connection.destroy();
  return {
    sessions: count, seconds,
    refused: after.filter(({ status }) => status !== 200).length,
    incomplete: after.filter(({ ready }) => ready?.data.resume.status !== 'complete').length,
    reached: after.filter(({ signals }) => signals.length === 1).length,
  };
}

/** So many requests that wait for something new, and one signal. */
export async function parkedWaits({ world, nodes, url, publish }: Stand, count: number): Promise<Figures> {
  const headers = keyHeader(world.asker('owner'));
  const asked = `${url()}/api/firehose`;
  const shown = ({ body }: Waited): number => JSON.parse(body).signals.length;
  const known = shown(await ask(asked, headers)) + 1;
  await publish(1);
  // On Postgres a signal is acknowledged a moment before it has its number.
  let first: Waited;
  do first = await ask(asked, headers);
  while (shown(first) < known);
  const { etag } = first.headers;
  let answered = 0;
  const wait = async (): Promise<Waited> => {
    let answer: Waited;
    // On a slow machine the last come when the time of the first is up, who then ask again.
    do answer = await ask(asked, { ...headers, 'if-none-match': etag as string, prefer: 'wait=30' });
    while (answer.status === 304);
    answered += 1;
    return answer;
  };
  const waits: Promise<Waited>[] = [];
  // Only so many at a time wait to be let in: when somebody after them is answered, they have been.
  for (; waits.length < count; await ask(`${url()}/health`, {})) waits.push(...Array.from({ length: Math.min(100, count - waits.length) }, wait));
  // All of them are parked, and none may be answered before there is anything to say.
  await untilIdle(nodes.all()[0]!);
  const early = answered;
  const started = performance.now();
  await publish(1);
  const answers = await Promise.all(waits);
  return {
    waits: count, early,
    seconds: (performance.now() - started) / 1000,
    answered_200: answers.filter(({ status }) => status === 200).length,
    with_new: answers.filter((answer) => answer.body && shown(answer) === known + 1).length,
    applied: answers.filter((answer) => answer.headers['preference-applied'] === 'wait=30').length,
  };
}

/** What open reading of somebody ends with, on each node, and how soon. */
export async function endsWithin(stand: Stand, asker: Parameters<typeof tail>[1], sessionId: string, act: () => Promise<unknown>): Promise<{ milliseconds: number; after: number[] }> {
  const urls = stand.nodes.all().map(({ url }) => url);
  const open = await Promise.all(urls.flatMap((url) => [
    opened(`${url}/api/firehose`, asker),
    opened(`${url}/api/firehose/sessions/${sessionId}/events`, asker),
    opened(`${url}/api/firehose/sessions/${sessionId}/socket`, asker, { isSocket: true }),
  ]));
  const refused = open.find(({ ready }) => ready === null);
  if (refused) throw new Error(`A stream did not open: ${refused.status}`);
  const { headers: { etag } } = await ask(`${urls[0]}/api/firehose`, keyHeader(asker));
  let waiting = urls.length;
  for (const url of urls) void ask(`${url}/api/firehose`, { ...keyHeader(asker), 'if-none-match': etag as string, prefer: 'wait=30' }).catch(() => undefined).finally(() => { waiting -= 1; });
  await sleep(200);
  if (waiting < urls.length || open.some(({ ended }) => ended)) throw new Error('Something ended before there was a reason');
  await act();
  const started = performance.now();
  await until(() => waiting === 0 && open.every(({ ended }) => ended !== null), 15_000);
  const milliseconds = performance.now() - started;
  const after = await Promise.all(urls.map(async (url) => (await ask(`${url}/api/firehose`, keyHeader(asker))).status));
  return { milliseconds, after };
}
