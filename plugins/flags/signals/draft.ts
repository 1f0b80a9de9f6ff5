import { cutText, type Reader } from 'civic';
import type { DirectoryService } from 'civic/directory';
import type { SignalDraft } from 'civic/firehose';
import type { FlagRow } from '../store.ts';

type About = Pick<SignalDraft, 'title' | 'summary' | 'places' | 'issues' | 'actors' | 'evidence'>;

const LONGEST_NAME = 200;
const MOST_PLACES = 20;

const ABOUT = { entity: aboutActor, source: aboutSource, place: aboutPlace };

/** Returns the signal of a resolved flag, without anything that the reporter wrote; null when the target is no longer public. */
export async function resolvedSignal(directory: DirectoryService, reader: Reader, { target_type, target_id }: FlagRow): Promise<SignalDraft | null> {
  const about = await ABOUT[target_type](directory, reader, target_id);
  return about && { type: 'flag_resolved', source_class: 'review', ...about };
}

async function aboutActor(directory: DirectoryService, reader: Reader, id: string): Promise<About | null> {
  const [actor] = await directory.actors(reader, [id]);
  if (!actor || actor.visibility !== 'public') return null;
  const name = cutText(actor.name, LONGEST_NAME);
  return {
    title: `Report about ${name} resolved`,
    summary: 'A problem with this entry was reported. A reviewer checked and corrected it.',
    places: actor.places.slice(0, MOST_PLACES).map(({ place_key }) => place_key),
    issues: actor.issue_areas.slice(0, MOST_PLACES),
    actors: [{ id, name: actor.name, type: actor.type }],
    evidence: [{ source_url: directory.links.actor(id), title: name }],
  };
}

async function aboutSource(directory: DirectoryService, reader: Reader, id: string): Promise<About | null> {
  const source = await directory.source(reader, id);
  if (!source) return null;
  const actors = (await directory.actors(reader, source.entity_ids)).filter(({ visibility }) => visibility === 'public');
  const some = (values: string[]) => [...new Set(values)].slice(0, MOST_PLACES);
  const name = cutText(source.title ?? source.url, LONGEST_NAME);
  return {
    title: `Report about the source “${name}” resolved`,
    summary: 'A problem with this source was reported. A reviewer checked and corrected it.',
    places: some(actors.flatMap(({ places }) => places.map(({ place_key }) => place_key))),
    issues: some(actors.flatMap(({ issue_areas }) => issue_areas)),
    actors: [],
    evidence: [{ source_id: id, source_url: source.url, title: name }],
  };
}

async function aboutPlace(directory: DirectoryService, reader: Reader, key: string): Promise<About | null> {
  const place = (await directory.places(reader, [key])).get(key);
  if (!place) return null;
  return {
    title: `Report about ${place.display_name} resolved`,
    summary: 'A problem with the page of this place was reported. A reviewer checked and corrected it.',
    places: [key], issues: [], actors: [], evidence: [{ source_url: directory.links.place(key), title: place.display_name }],
  };
}
