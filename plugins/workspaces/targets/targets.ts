import { Joi, problem, type Reader } from 'civic';
import type { Workspaces } from '../context.ts';
import { createRecords, type Records } from '../records/records.ts';
import type { RecordRow } from '../records/store.ts';
import { listOf, nullable, recordFields, writtenText } from '../schemas.ts';

export interface TargetRow extends RecordRow {
  place_key: string;
  /** JSON. */
  issue_areas: string;
  wanted: number;
  note: string | null;
}

export const TARGET_STATES = ['met', 'partial', 'missing'] as const;
export type TargetState = (typeof TARGET_STATES)[number];

/** How many public entries a workspace wants for issue areas of a place, and how many there are. */
export interface CoverageTarget {
  id: string;
  place: { place_key: string; name: string | null };
  issue_areas: string[];
  wanted: number;
  note: string | null;
  /** `met` when every issue area has as many as wanted, `missing` when none has any. */
  state: TargetState;
  progress: { issue_area: string; name: string | null; found: number; state: TargetState }[];
  created_at: string;
  updated_at: string;
  created_by: string;
}

const MOST_AREAS = 100;
const MOST_WANTED = 1000;
const fields = {
  place: Joi.string().max(200).description('The key or slug of a place'),
  issue_areas: Joi.array().items(Joi.string().max(100)).min(1).max(MOST_AREAS).unique().description('Slugs of issue areas'),
  wanted: Joi.number().integer().min(1).max(MOST_WANTED).description('How many public entries each issue area should have'),
  note: writtenText(2000).allow(null),
};
const state = Joi.string().valid(...TARGET_STATES).required();

const shown = Joi.object<CoverageTarget, true>({
  ...recordFields,
  place: Joi.object({ place_key: Joi.string().required(), name: nullable }).required(),
  issue_areas: Joi.array().items(Joi.string()).required(),
  wanted: Joi.number().integer().required(),
  note: nullable,
  state: state.description('Computed from public entries: `met` when every issue area has as many as wanted, `missing` when none has any'),
  progress: Joi.array().items(Joi.object({ issue_area: Joi.string().required(), name: nullable, found: Joi.number().integer().required(), state })).required(),
}).meta({ name: 'CoverageTarget' });

export type Targets = Records<TargetRow, CoverageTarget>;

export function createTargets(workspaces: Workspaces): Targets {
  const { directory } = workspaces;
  return createRecords<TargetRow, CoverageTarget>(workspaces, {
    name: 'coverage-targets',
    noun: 'coverage target',
    param: 'coverage_target_id',
    table: 'workspaces_targets',
    unknown: 'unknown_coverage_target',
    problems: ['unknown_place', 'invalid_request'],
    schemas: {
      created: Joi.object({ ...fields, place: fields.place.required(), issue_areas: fields.issue_areas.required(), wanted: fields.wanted.default(3) }).meta({ name: 'NewCoverageTarget' }),
      changed: Joi.object(fields).min(1).meta({ name: 'CoverageTargetChange' }),
      shown,
      list: listOf(shown, 'CoverageTargetList'),
    },
    async columns(tx, _context, { place, issue_areas, wanted, note }) {
      if (issue_areas !== undefined) checkAreas(workspaces, issue_areas as string[]);
      return {
        ...(place !== undefined && { place_key: await workspaces.placeKey(tx, place as string) }),
        ...(issue_areas !== undefined && { issue_areas: JSON.stringify(issue_areas) }),
        ...(wanted !== undefined && { wanted: wanted as number }),
        ...(note !== undefined && { note: note as string | null }),
      };
    },
    async show(reader: Reader, _context, rows) {
      const keys = rows.map(({ place_key }) => place_key);
      const [places, counts] = [await directory.places(reader, keys), await directory.issueCountsIn(reader, keys)];
      return rows.map(({ id, place_key, issue_areas, wanted, note, created_at, updated_at, created_by }) => {
        const slugs = JSON.parse(issue_areas) as string[];
        const progress = slugs.map((slug) => {
          const found = counts.get(place_key)?.get(slug) ?? 0;
          return { issue_area: slug, name: directory.issueName(slug), found, state: stateOf(found, Number(wanted)) };
        });
        return {
          id, place: { place_key, name: places.get(place_key)?.display_name ?? null }, issue_areas: slugs, wanted: Number(wanted), note,
          state: wholeState(progress.map((one) => one.state)), progress, created_at, updated_at, created_by,
        };
      });
    },
  });
}

function checkAreas({ directory }: Workspaces, slugs: string[]): void {
  const errors = slugs.flatMap((slug, at) => (directory.issueName(slug) === null ? [{ pointer: `/issue_areas/${at}`, detail: 'is not the slug of an issue area' }] : []));
  if (errors.length > 0) throw problem('invalid_request', { detail: `${errors[0]!.pointer} ${errors[0]!.detail}; /api/issue-areas lists them.`, errors });
}

function stateOf(found: number, wanted: number): TargetState {
  if (found >= wanted) return 'met';
  return found > 0 ? 'partial' : 'missing';
}

function wholeState(states: TargetState[]): TargetState {
  if (states.every((one) => one === 'met')) return 'met';
  return states.every((one) => one === 'missing') ? 'missing' : 'partial';
}
