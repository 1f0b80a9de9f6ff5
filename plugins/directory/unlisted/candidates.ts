import { foldText, lazily, type Reader } from 'civic';
import { actorsWithHeldClaims } from '../ledger/holds-store.ts';
import { actorsInBlocks } from '../matching/store.ts';
import type { UnlistRequest } from './people.ts';
import { peopleNamed } from './store.ts';

const loadBlocks = lazily(() => import('../matching/block.ts'));
const loadNames = lazily(() => import('../matching/nicknames.ts'));
const loadPerson = lazily(() => import('../matching/person.ts'));
const loadProfile = lazily(() => import('../matching/profile.ts'));

/** Of the people whose name begins with one word. */
const MOST_NAMED = 2000;

/** Returns the keys of public actors that a request may be about: by the beginning of their name, and as duplicates are found. */
export async function candidatesFor(reader: Reader, request: UnlistRequest): Promise<number[]> {
  const keys = new Set(request.name === null ? [] : await peopleNamed(reader, await beginnings(request.name), MOST_NAMED));
  for (const { actor_key } of await byBlocks(reader, request)) keys.add(actor_key);
  // No block has the contacts that a hold hides.
  if (request.email !== null || request.phone !== null) for (const key of await actorsWithHeldClaims(reader)) keys.add(key);
  return [...keys];
}

/** Returns the words that a name may begin with: the first name and its forms, or the family name. */
async function beginnings(name: string): Promise<string[]> {
  const [{ personName }, { formalNames, shortForms }] = [await loadPerson(), await loadNames()];
  const { given, middle, family } = personName(name);
  const first = [...given, ...middle.slice(0, 1)].filter((word) => word.length > 1);
  const forms = first.flatMap((word) => [word, ...formalNames(word), ...[word, ...formalNames(word)].flatMap(shortForms)]);
  return [...new Set([...forms, ...family].map(foldText))].map((word) => `${word} `).concat(family.map((word) => `${foldText(word)},`));
}

async function byBlocks(reader: Reader, { name, place, email, phone, url }: UnlistRequest): Promise<{ actor_key: number }[]> {
  const [{ keptBlocks, MOST_IN_BLOCK }, { prepare, profileOfDraft }] = [await loadBlocks(), await loadProfile()];
  const stated = { name, place, email, phone, website: url };
  const claims = (Object.keys(stated) as (keyof typeof stated)[]).flatMap((property) => (stated[property] === null ? [] : [{ property, value: stated[property] }]));
  const blocks = keptBlocks(prepare(profileOfDraft({ type: 'person', claims }))).map(({ block }) => block);
  return blocks.length === 0 ? [] : actorsInBlocks(reader, blocks, MOST_IN_BLOCK, null);
}
