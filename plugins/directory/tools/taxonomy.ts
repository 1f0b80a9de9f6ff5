import { fitData, Joi, singleLine, summarizeList, type Page, type TextList, type Tool } from 'civic';
import { areasFor, wholeList } from '../taxonomy/routes.ts';
import { issueAreaList, issueAreaQuery, type IssueAreaQuery, type IssueAreaRecord } from '../taxonomy/schemas.ts';
import type { Directory } from '../service.ts';
import { INVALID_CURSOR, readList } from './list.ts';

const domain = issueAreaQuery.extract('domain');
const listInput = Joi.object({ domain, cursor: Joi.string().description('From `next_cursor`') });
const MOST_RESOLVED = 20;
const resolveInput = Joi.object({ query: issueAreaQuery.extract('query').required(), domain });

export function taxonomyTools({ taxonomy, issueCounts }: Pick<Directory, 'taxonomy' | 'issueCounts'>): Tool[] {
  const areas = async (query: IssueAreaQuery) => areasFor(taxonomy(), query, await issueCounts());
  return [
    {
      name: 'list_issue_areas',
      title: 'List issue areas',
      description: 'Returns the issue areas of the directory, with slug, description and number of public actors. To find the slug for a topic, call resolve_issue_areas instead.',
      readOnly: true,
      destructive: false,
      input: listInput,
      output: issueAreaList,
      advice: { invalid_cursor: INVALID_CURSOR },
      async run(query: IssueAreaQuery, call) {
        const data = await readList<IssueAreaRecord, IssueAreaQuery>({
          path: '/api/issue-areas', query, schema: listInput, position: ['integer', 'text'],
          read: async (page) => areasAfter(await areas(page.query), page),
        }, call);
        return { data, text: summarizeList(['issue area', 'issue areas'], data, data.data.map(areaLine)) };
      },
    },
    {
      name: 'resolve_issue_areas',
      title: 'Find issue areas for a topic',
      description: 'Returns the issue areas that a free text ("bus routes", "rent control") is about, best first. Use their slugs as issue_area in other tools.',
      readOnly: true,
      destructive: false,
      input: resolveInput,
      output: issueAreaList,
      async run(given: IssueAreaQuery, { maxBytes }) {
        const data = fitData(wholeList((await areas(given)).slice(0, MOST_RESOLVED)), maxBytes);
        if (data.total === 0) return { data, text: 'No issue area matches. Use other words, or call list_issue_areas.' };
        return { data, text: summarizeList(['issue area', 'issue areas'], data, data.data.map(areaLine)) };
      },
    },
  ];
}

/** Returns the issue areas after a position, its number and slug; all of them when the tool has no limit. After one that the taxonomy no longer has, the list continues at its number. */
function areasAfter(all: IssueAreaRecord[], { limit, after }: Pick<Page, 'limit' | 'after'>): TextList {
  const known = after ? all.findIndex(({ slug }) => slug === after[1]) : -1;
  const start = known === -1 ? Math.max(0, Number(after?.[0] ?? 0)) : known + 1;
  const shown = all.slice(start, Number.isNaN(limit) ? undefined : start + limit);
  const end = start + shown.length;
  return { data: shown.map((area) => JSON.stringify(area)), total: all.length, next: end < all.length ? [end - 1, shown.at(-1)!.slug] : null };
}

function areaLine({ slug, name, description, entity_count }: IssueAreaRecord): string {
  return `- ${singleLine(slug)}: ${singleLine(name)} (${entity_count} actors); ${singleLine(description, 100)}`;
}
