import { problem, type InputError, type Reader } from 'civic';
import type { ActorDraft, DraftFault } from 'civic/directory';
import { atPlace } from '../candidates/place.ts';
import type { Discovery } from '../context.ts';
import { hasSecret } from '../engine/frontier.ts';
import type { Bundle } from './bundle.ts';
import type { SyncEntry, SyncSource } from './schemas.ts';

/** An entry of a bundle as a draft that the directory accepts. */
export interface CheckedEntry {
  local_id: string;
  draft: ActorDraft;
}

interface IndexedSource {
  source: SyncSource;
  index: number;
}

const MOST_ERRORS = 20;
const AT_ONCE = 50;

/** Returns the entries of a bundle as drafts. Throws one problem with a pointer to each fault, as `POST /api/entities` would; nothing of such a bundle is stored. People who asked not to be listed are known by the place of the run, too. */
export async function checkedEntries({ directory }: Discovery, reader: Reader, { sources, entries }: Bundle, placeKey: string | null): Promise<CheckedEntry[]> {
  const byId = indexedSources(sources);
  refuseFaults([...repeated('entries', entries), ...entries.flatMap((entry, index) => referenceFaults(entry, index, byId))]);
  const checked: CheckedEntry[] = [];
  const faults: InputError[] = [];
  const unlisted: InputError[] = [];
  for (let from = 0; from < entries.length && faults.length < MOST_ERRORS; from += AT_ONCE) {
    const some = entries.slice(from, from + AT_ONCE);
    const drafts = some.map((entry) => draftOf(entry, byId));
    const results = await directory.readDrafts(reader, drafts);
    results.forEach((result, at) => {
      if ('faults' in result) faults.push(...result.faults.map((fault) => located(fault, from + at, drafts[at]!, byId)));
      else checked.push({ local_id: some[at]!.local_id, draft: result.draft });
    });
    const areUnlisted = await directory.areUnlisted(reader, drafts.map((draft) => atPlace(draft, placeKey)));
    areUnlisted.forEach((isUnlisted, at) => { if (isUnlisted) unlisted.push({ pointer: `/entries/${from + at}`, detail: 'is about a person who asked not to be listed' }); });
  }
  refuseFaults(faults);
  if (unlisted.length > 0) throw problem('unlisted_person', { detail: `${unlisted[0]!.pointer} ${unlisted[0]!.detail}. Nothing was stored: send the others without it.`, errors: unlisted });
  return checked;
}

function indexedSources(sources: SyncSource[]): Map<string, IndexedSource> {
  const secrets = sources.flatMap(({ url }, index) => (hasSecret(new URL(url)) ? [{ pointer: `/sources/${index}/url`, detail: 'must be an address without a password or a key' }] : []));
  refuseFaults([...repeated('sources', sources), ...secrets]);
  return new Map(sources.map((source, index) => [source.local_id, { source, index }]));
}

function refuseFaults(faults: InputError[]): void {
  if (faults.length === 0) return;
  const others = faults.length - 1;
  throw problem('invalid_request', { detail: `${faults[0]!.pointer} ${faults[0]!.detail}${others > 0 ? ` (and ${others} more)` : ''}`, errors: faults.slice(0, MOST_ERRORS) });
}

function repeated(list: string, items: { local_id: string }[]): InputError[] {
  const seen = new Set<string>();
  return items.flatMap(({ local_id }, index) => {
    if (!seen.has(local_id)) {
      seen.add(local_id);
      return [];
    }
    return [{ pointer: `/${list}/${index}/local_id`, detail: 'is the local_id of an earlier item, too' }];
  });
}

function referenceFaults({ name, claims }: SyncEntry, index: number, sources: Map<string, IndexedSource>): InputError[] {
  const names = claims.filter(({ property }) => property === 'name');
  return [
    ...claims.flatMap(({ source_local_id }, at) => (sources.has(source_local_id) ? [] : [{ pointer: `/entries/${index}/claims/${at}/source_local_id`, detail: `no source has the local_id "${source_local_id}"` }])),
    ...(names.length === 0 || names.some(({ value }) => value === name) ? [] : [{ pointer: `/entries/${index}/name`, detail: 'is not the value of a claim with the property "name"' }]),
  ];
}

/** A source that states something about an actor names it. The claim of the name comes last, so that pointers to the others stay right. */
function draftOf({ type, name, claims }: SyncEntry, sources: Map<string, IndexedSource>): ActorDraft {
  const isNamed = claims.some(({ property }) => property === 'name');
  const cited = [...new Set(claims.map(({ source_local_id }) => source_local_id))].map((id) => sources.get(id)!.source);
  return {
    type, visibility: 'workspace',
    sources: cited.map(({ text_hash, ...source }) => ({ ...source, content_hash: text_hash ?? null })),
    claims: isNamed ? claims : [...claims, { property: 'name', value: name, source_local_id: claims[0]!.source_local_id, method: claims[0]!.method! }],
  };
}

/** Points into the bundle: the draft has only the sources that its claims cite. */
function located({ pointer, detail }: DraftFault, entry: number, draft: ActorDraft, sources: Map<string, IndexedSource>): InputError {
  const [, at, rest] = /^\/sources\/(\d+)(\/.*)?$/.exec(pointer) ?? [];
  if (at === undefined) return { pointer: `/entries/${entry}${pointer}`, detail };
  const member = rest === '/content_hash' ? '/text_hash' : rest ?? '';
  return { pointer: `/sources/${sources.get(draft.sources[Number(at)]!.local_id)!.index}${member}`, detail };
}
