import { Joi } from 'civic';
import { listOf, nullable, recordFields, writtenText } from '../schemas.ts';
import { GAP_TYPES, type Gap } from './assess.ts';

/** A research brief of a workspace. */
export interface Brief {
  id: string;
  title: string;
  scope: { places: string[]; issue_areas: string[] };
  summary_md: string;
  entity_ids: string[];
  source_ids: string[];
  run_ids: string[];
  confidence: number;
  gaps: Gap[];
  created_at: string;
  updated_at: string;
  created_by: string;
}

export const LONGEST_SUMMARY = 50_000;
export const MOST_PLACES = 20;
export const MOST_ISSUES = 50;
export const MOST_ENTITIES = 100;
export const MOST_SOURCES = 200;

const unique = (most: number) => Joi.array().items(writtenText(200).min(1)).unique().max(most);
const title = writtenText(200).min(1).description('What the brief is about');
const summary = writtenText(LONGEST_SUMMARY).allow('').description('The findings, in Markdown (CommonMark). HTML is shown as text');
const scope = Joi.object({
  places: unique(MOST_PLACES).default([]).description('Place keys or slugs'),
  issue_areas: unique(MOST_ISSUES).default([]).description('Slugs of issue areas'),
}).description('What the brief covers; its confidence and gaps are computed from it');
const references = {
  entity_ids: unique(MOST_ENTITIES).description('Public actors, and actors of the workspace'),
  source_ids: unique(MOST_SOURCES).description('Sources besides those of the actors'),
  run_ids: Joi.array().items(Joi.string().uuid().lowercase()).unique().max(100).description('Discovery runs that the brief is based on; stored as they are given'),
};
/** The brief in an export has these. They are computed or assigned again. */
const ignored = Object.fromEntries(['id', 'confidence', 'gaps', 'created_at', 'updated_at', 'created_by'].map((name) => [name, Joi.any().strip()]));

export const briefFields = {
  title: title.required(), scope: scope.default({ places: [], issue_areas: [] }).meta({ name: 'NewBriefScope' }), summary_md: summary.default(''),
  entity_ids: references.entity_ids.default([]), source_ids: references.source_ids.default([]), run_ids: references.run_ids.default([]),
};
export const newBrief = Joi.object({ ...briefFields, ...ignored }).meta({ name: 'NewBrief' });
export const briefChange = Joi.object({ title, scope: scope.meta({ name: 'BriefScopeChange' }), summary_md: summary, ...references }).min(1).meta({ name: 'BriefChange' });

const strings = Joi.array().items(Joi.string()).required();
const gap = Joi.object<Gap, true>({ type: Joi.string().valid(...GAP_TYPES).required(), place: nullable, issue_area: nullable, source_id: nullable, entity_id: nullable }).meta({ name: 'BriefGap' });

export const briefShown = Joi.object<Brief, true>({
  ...recordFields,
  title: Joi.string().required(),
  scope: Joi.object({ places: strings, issue_areas: strings }).required().meta({ name: 'BriefScope' }),
  summary_md: Joi.string().allow('').required(),
  entity_ids: strings, source_ids: strings, run_ids: strings,
  confidence: Joi.number().min(0).max(1).required().description('Half of it is the coverage of the scope, half the freshness of the sources'),
  gaps: Joi.array().items(gap).required().description('What the brief cannot rely on'),
}).meta({ name: 'Brief' });
export const briefList = listOf(briefShown, 'BriefList');
