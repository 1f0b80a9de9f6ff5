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

/** Returns the document of a brief without its summary. Sources are numbered through both parts. */
export async function documentOf({ civic, directory }: Pick<Workspaces, 'civic' | 'directory'> & { civic: Pick<Civic, 'clock' | 'url'> }, reader: Reader, workspace: Workspace, { brief, evidence }: { brief: Brief; evidence: Evidence }, t: Texts): Promise<Omit<BriefDocument, 'summary'>> {
  const places = await directory.places(reader, brief.scope.places);
  const placeName = (key: string) => places.get(key)?.display_name ?? key;
  const issueName = (slug: string) => issueText(directory, slug, t);
  const numbers = new Map(evidence.sources.map(({ id }, index) => [id, index + 1]));
  const sources = evidence.sources.map((source) => ({ isPublic: source.visibility === 'public', shown: {
    number: numbers.get(source.id)!, id: source.id, name: source.title ?? source.url, url: isWebUrl(source.url) ? source.url : null,
    publication: source.publication, published_at: source.published_at, retrieved_at: source.retrieved_at, freshness: source.freshness.status,
  } }));
  const entities = evidence.entities.map((entity) => ({ isPublic: entity.visibility === 'public', shown: {
    id: entity.id, name: entity.name, type: entity.type, places: entity.places.map((place) => [place.name, place.state].filter(Boolean).join(', ')).join('; '), description: entity.description,
    url: directory.links.actor(entity.id), cites: entity.sources.flatMap(({ id }) => numbers.get(id) ?? []).toSorted((a, b) => a - b),
  } }));
  const part = (isPublic: boolean): DocumentPart => {
    const own = { entities: entities.filter((one) => one.isPublic === isPublic).map(({ shown }) => shown), sources: sources.filter((one) => one.isPublic === isPublic).map(({ shown }) => shown) };
    return { ...own, isEmpty: own.entities.length + own.sources.length === 0 };
  };
  return {
    brief, workspaceName: workspace.name, exported_at: civic.clock.iso(), places: brief.scope.places.map(placeName), issues: brief.scope.issue_areas.map(issueName),
    publicPart: part(true), privatePart: part(false), gaps: brief.gaps.map((gap) => gapWords(gap, { placeName, issueName, numbers }, t)),
  };
}

/** Adds the summary as HTML, which may take seconds: call it outside of transactions. */
export async function withSummary(document: Omit<BriefDocument, 'summary'>): Promise<BriefDocument> {
  return { ...document, summary: await markdownHtml(document.brief.summary_md) };
}

function gapWords({ type, place, issue_area, source_id, entity_id }: Gap, { placeName, issueName, numbers }: { placeName(key: string): string; issueName(slug: string): string; numbers: Map<string, number> }, t: Texts): string {
  return t(`gaps.${type}`, { place: place === null ? '' : placeName(place), issue: issue_area === null ? '' : issueName(issue_area), has_issue: issue_area === null ? 'no' : 'yes', source: source_id === null ? '' : numbers.get(source_id) ?? source_id, entity: entity_id ?? '' });
}
