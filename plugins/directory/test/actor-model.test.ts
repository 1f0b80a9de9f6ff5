import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tagList, type Cluster, type Known } from '../actors/derive.ts';
import { actorModel } from '../actors/model.ts';
import { cellsOf } from '../actors/project.ts';
import { HALF_LIVES } from '../config.ts';
import type { ClaimRow, RecordRow, SourceRow } from '../ledger/rows.ts';
import { keptBlocks } from '../matching/block.ts';
import { profileOfClaims } from '../matching/known.ts';
import { prepare } from '../matching/profile.ts';
import { priorOf, rankOf, tokensOf } from '../search/document.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const RECORD = join(import.meta.dirname, '../../../../plugins/directory/test/actor-model.json');
const AT = '2026-01-05T00:00:00.000Z';
const id = (number: number): string => `01890000-0000-7000-8000-${String(number).padStart(12, '0')}`;

const record: RecordRow = { key: 7, id: id(7), actor_key: 7, slug: 'river-watch', visibility: 'public', workspace_id: null, created_at: AT, updated_at: AT, deleted_at: null };
const source: SourceRow = {
  key: 3, id: id(3), url: 'https://example.org/about', title: 'About', publication: 'Example', kind: 'other', published_at: AT, retrieved_at: AT, excerpt: null, content_hash: null,
  archived: 0, url_status: 'ok', last_checked_at: null, workspace_id: null,
} as unknown as SourceRow;
const values: [property: string, value: unknown][] = [
  ['name', 'River Watch'], ['name', 'Riverwatch of Kansas City'], ['type', 'organization'], ['description', 'Watches the river and its banks.'], ['place', 'kansas-city,missouri'],
  ['issue_area', 'water_quality'], ['website', 'https://example.org/'], ['email', 'mail@example.org'], ['phone', '+18165550100'], ['social', { network: 'mastodon', url: 'https://social.example/riverwatch' }],
  ['identifier', { scheme: 'ein', value: '12-3456789' }], ['affiliation', { entity_id: null, name: 'City Council', role: 'Member', since: '2022', until: null }],
];
const claims = values.map(([property, value], index): ClaimRow => ({
  key: index + 1, id: id(100 + index), record_key: 7, source_key: 3, property, value: JSON.stringify(value), rank: 'normal', confidence: 1, method: 'manual', excerpt: null,
  locator_start: null, locator_end: null, first_seen_at: AT, last_seen_at: AT, expires_at: null, status: 'active',
} as ClaimRow));
const known: Known = {
  sources: new Map([[3, source]]),
  places: new Map([['kansas-city,missouri', { key: 4_393_217, place_key: 'kansas-city,missouri', slug: 'kansas-city-mo', name: 'Kansas City', state: 'MO', country: 'US' }]]),
  halfLives: HALF_LIVES,
  now: '2026-02-01T12:00:00.000Z',
};

/** Everything that the tables of the read model hold of one actor. */
function rowsOf(cluster: Cluster): object {
  const { row, name, texts } = actorModel.derive(cluster, known)!;
  const prior = priorOf(row.source_count);
  const document = { key: row.key, prior, name, texts, tags: tagList(row.tags), workspace: row.workspace_id };
  return {
    row: { ...row, body: JSON.parse(row.body) },
    rank: rankOf(prior, row.key),
    tokens: tokensOf(document).sort(),
    blocks: keptBlocks(prepare(profileOfClaims(row.type, cluster.claims))).map(({ block }) => block).sort((a, b) => a - b),
    counters: cellsOf(row, 4_393_217),
  };
}

describe('The read model of actors', () => {
  it('holds the rows that were recorded for its version', () => {
    const derived = JSON.parse(JSON.stringify({ version: actorModel.version, ...rowsOf({ key: 7, version: 1, records: [record], claims }) }));
    const recorded = JSON.parse(readFileSync(RECORD, 'utf8'));
    if (process.env.CIVIC_UPDATE_GOLDEN && recorded.version < actorModel.version) writeFileSync(RECORD, `${JSON.stringify(derived, null, 2)}\n`);
    else expect(derived, 'The same claims give other rows: raise the version in actors/model.ts, so that existing databases are rebuilt, and record the rows with CIVIC_UPDATE_GOLDEN=1 npm test -- actor-model').to.equal(recorded);
  });
});
