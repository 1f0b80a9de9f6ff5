/** A version of a signal; `id` is null when the response with it was lost. */
export interface Version {
  id: string | null;
  title: string;
  places?: string[];
}

/** A workspace with watches on one place. */
export interface Desk {
  id: string;
  delivery: 'immediate' | 'digest';
  place: string;
}

/** A mail as it is queued. */
export interface QueuedMail {
  subject: string;
  lines: string[];
}

/** Returns what is wrong with a digest: each current signal of the place belongs in it once, in its current version. */
export function compareDigest({ id, place }: Desk, signals: Version[], shown: Version[]): string[] {
  const wanted = signals.filter(({ places = [] }) => places.includes(place)).map(({ title }) => title);
  return differences(`the digest of ${id}`, wanted, shown.map(({ title }) => title));
}

/** Returns what is wrong with the mails to a workspace: each current signal belongs in one of them, and no version in two. Digests are not due during the test. */
export function compareMails({ id, place, delivery }: Desk, signals: Version[], mails: QueuedMail[]): string[] {
  const mailed = mails.filter(({ lines }) => lines.some((line) => line.includes(`/workspaces/${id}/`))).flatMap(({ lines }) => lines.flatMap((line) => /Vote number \d+ ends/.exec(line)?.[0] ?? []));
  if (delivery === 'digest') return mailed.length === 0 ? [] : [`${id} got mails at once`];
  const current = signals.filter(({ places = [] }) => places.includes(place)).map(({ title }) => title);
  const missing = current.filter((title) => !mailed.includes(title)).map((title) => `no mail to ${id} has ${title}`);
  return [...missing, ...repeated(mailed).map((title) => `mails to ${id} have ${title} twice`)];
}

function differences(name: string, wanted: string[], found: string[]): string[] {
  return [
    ...wanted.filter((title) => !found.includes(title)).map((title) => `${name} lacks ${title}`),
    ...found.filter((title) => !wanted.includes(title)).map((title) => `${name} has ${title}, which is not a current signal of its place`),
    ...repeated(found).map((title) => `${name} has ${title} twice`),
  ];
}

function repeated(titles: string[]): string[] {
  return titles.filter((title, at) => titles.indexOf(title) !== at);
}
