import { cutText, type Tx } from 'civic';
import type { LinkedSource } from 'civic/directory';
import type { SignalDraft } from 'civic/firehose';
import type { Ingest } from '../context.ts';
import { publicUrl } from '../reads/clean.ts';
import { plain, type FoundContent } from './content.ts';

const MOST_ACTORS = 20;
const LONGEST_NAME = 200;
const LONGEST_PASSAGE = 1000;
const LONGEST_SUMMARY = 1000;

/**
 * Returns the signal of a public page that no longer has passages which the directory quotes from it; null when all are there, or none was.
 * It quotes nothing else of the page: a page may have contacts that are not public here. For the same reason it does not quote what is about people: the field policy hides statements, and the passage of another one may contain what they state.
 */
export async function passageSignal({ civic, directory }: Ingest, tx: Tx, source: LinkedSource, { hash, change }: FoundContent): Promise<SignalDraft | null> {
  const cited = change && source.workspace_id === null ? await directory.source(tx, source.id) : null;
  if (!change || !cited) return null;
  const actors = (await directory.actors(tx, cited.entity_ids)).filter(({ visibility }) => visibility === 'public');
  const lost = actors.flatMap((actor) => {
    const { excerpt = null, property = null } = actor.sources.find(({ id }) => id === source.id) ?? {};
    const passage = plain(excerpt ?? '');
    return passage !== '' && change.before.includes(passage) && !change.after.includes(passage) ? [{ actor, property, passage: actor.type === 'person' ? null : cutText(passage, LONGEST_PASSAGE) }] : [];
  }).slice(0, MOST_ACTORS);
  if (lost.length === 0) return null;
  const some = (values: string[]) => [...new Set(values)].slice(0, MOST_ACTORS);
  const name = cutText(source.title ?? publicUrl(source.url), LONGEST_NAME);
  const about = { source_id: source.id, source_url: publicUrl(source.url), title: name, publisher: source.publication, captured_at: civic.clock.iso() };
  return {
    type: 'source_change', source_class: 'directory', title: `“${name}” no longer has ${lost.length === 1 ? 'a passage' : `${lost.length} passages`} quoted from it`,
    summary: cutText(lost.flatMap(({ actor, property, passage }) => (passage === null ? [`The passage about ${actor.name} (${property}) is gone; passages about people are not quoted.`] : [])).join(' '), LONGEST_SUMMARY) || null,
    occurred_at: civic.clock.iso(),
    places: some(lost.flatMap(({ actor }) => actor.places.map(({ place_key }) => place_key))),
    issues: some(lost.flatMap(({ actor }) => actor.issue_areas)),
    actors: lost.map(({ actor: { id, name: named, type } }) => ({ id, name: named, type, role: 'quoted' })),
    evidence: [{ ...about, content_hash: hash }, { ...about, passage: lost.find(({ passage }) => passage !== null)?.passage ?? null, content_hash: change.from_hash }],
    changes: lost.flatMap(({ passage }) => (passage === null ? [] : [{ field: 'passage', before: passage, after: null }])),
  };
}
