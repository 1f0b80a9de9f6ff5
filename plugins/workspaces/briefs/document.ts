import { isWebUrl, type Civic, type Reader, type Texts } from 'civic';
import type { Workspace, Workspaces } from '../context.ts';
import { issueText } from '../pages/issues.ts';
import type { Gap } from './assess.ts';
import type { Evidence } from './evidence.ts';
import { markdownHtml } from './markdown.ts';
import type { Brief } from './schemas.ts';

export interface DocumentEntity {
  id: string;
  name: string;
  type: string;
  places: string;
  description: string | null;
  url: string;
  /** The numbers of its sources. */
  cites: number[];
}

export interface DocumentSource {
  number: number;
  id: string;
  name: string;
  /** Null when the address is not one of the web. */
  url: string | null;
  publication: string | null;
  published_at: string | null;
  retrieved_at: string;
  freshness: string;
}

export interface DocumentPart {
  entities: DocumentEntity[];
  sources: DocumentSource[];
  isEmpty: boolean;
}

/** A brief as files and the printed page show it. Public records and those of the workspace are apart. */
export interface BriefDocument {
  brief: Brief;
  workspaceName: string;
  exported_at: string;
  places: string[];
  issues: string[];
  /** Safe HTML. */
  summary: string;
  publicPart: DocumentPart;
  privatePart: DocumentPart;
  gaps: string[];
}

type Context = Pick<Workspaces, 'directory'> & { civic: Pick<Civic, 'clock'> };

/** Names what the gaps of a brief refer to. */
interface Names {
  placeName(key: string): string;
  issueName(slug: string): string;
  /** The numbers of sources. */
  numbers: Map<string, number>;
}

/** Returns the document of a brief without its summary. Sources are numbered through both parts. */
export async function documentOf({ civic, directory }: Context, reader: Reader, workspace: Workspace, { brief, evidence }: { brief: Brief; evidence: Evidence }, t: Texts): Promise<Omit<BriefDocument, 'summary'>> {
  const places = await directory.places(reader, brief.scope.places);
  const names: Names = {
    placeName: (key) => places.get(key)?.display_name ?? key,
    issueName: (slug) => issueText(directory, slug, t),
    numbers: new Map(evidence.sources.map(({ id }, index) => [id, index + 1])),
  };
  const part = (isPublic: boolean): DocumentPart => {
    const entities = evidence.entities.filter(({ visibility }) => (visibility === 'public') === isPublic).map((entity) => shownEntity(directory, entity, names));
    const sources = evidence.sources.filter(({ visibility }) => (visibility === 'public') === isPublic).map((source) => shownSource(source, names));
    return { entities, sources, isEmpty: entities.length + sources.length === 0 };
  };
  return {
    brief, workspaceName: workspace.name, exported_at: civic.clock.iso(),
    places: brief.scope.places.map(names.placeName), issues: brief.scope.issue_areas.map(names.issueName),
    publicPart: part(true), privatePart: part(false), gaps: brief.gaps.map((gap) => gapWords(gap, names, t)),
  };
}

function shownEntity({ links }: Workspaces['directory'], { id, name, type, places, description, sources }: Evidence['entities'][number], { numbers }: Names): DocumentEntity {
  const where = places.map((place) => [place.name, place.state].filter(Boolean).join(', ')).join('; ');
  const cites = sources.flatMap((source) => numbers.get(source.id) ?? []).toSorted((a, b) => a - b);
  return { id, name, type, places: where, description, url: links.actor(id), cites };
}

function shownSource({ id, title, url, publication, published_at, retrieved_at, freshness }: Evidence['sources'][number], { numbers }: Names): DocumentSource {
  return { number: numbers.get(id)!, id, name: title ?? url, url: isWebUrl(url) ? url : null, publication, published_at, retrieved_at, freshness: freshness.status };
}

/** Adds the summary as HTML, which may take seconds: call it outside of transactions. */
export async function withSummary(document: Omit<BriefDocument, 'summary'>): Promise<BriefDocument> {
  return { ...document, summary: await markdownHtml(document.brief.summary_md) };
}

function gapWords({ type, place, issue_area, source_id, entity_id }: Gap, { placeName, issueName, numbers }: Names, t: Texts): string {
  return t(`gaps.${type}`, {
    place: place === null ? '' : placeName(place),
    issue: issue_area === null ? '' : issueName(issue_area),
    has_issue: issue_area === null ? 'no' : 'yes',
    source: source_id === null ? '' : numbers.get(source_id) ?? source_id,
    entity: entity_id ?? '',
  });
}
