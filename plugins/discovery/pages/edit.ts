import { Joi, problem, readForm, type Tx } from 'civic';
import type { ClaimDraft, Property } from 'civic/directory';
import { ACTOR_TYPES } from '../candidates/schemas.ts';
import type { CandidateChange } from '../candidates/decide.ts';
import type { ShownCandidate } from '../candidates/shown.ts';
import type { CandidateRow } from '../candidates/store.ts';
import type { Discovery } from '../context.ts';
import type { RunPage } from './area.ts';
import { shownCandidate } from '../candidates/shown.ts';
import { shownValue, type Names } from './values.ts';

/** Properties whose value is one text that a person can correct. */
const TEXTS: readonly string[] = ['name', 'description', 'website', 'email', 'phone', 'event_location'] satisfies Property[];
/** Those that a person can add. */
const ADDED = ['description', 'website', 'email', 'phone', 'place'] as const satisfies readonly Property[];

type Given = Record<string, unknown>;

const form = Joi.object<{ version: string; type: NonNullable<CandidateChange['type']>; name: string; keep: number[]; property: '' | (typeof ADDED)[number]; value: string; source: string }>({
  version: Joi.string().required(),
  type: Joi.string().valid(...ACTOR_TYPES).required(),
  name: Joi.string().trim().max(300).required().messages({ 'string.empty': 'edit.no_name', 'any.required': 'edit.no_name' }),
  keep: Joi.array().single().items(Joi.number().integer().min(0).max(200)).default([]),
  property: Joi.string().valid('', ...ADDED).default(''),
  value: Joi.string().trim().max(2000).allow('').default(''),
  source: Joi.string().max(100).allow('').default(''),
}).rename('keep[]', 'keep');

/** Returns the fields of the form that corrects a candidate, filled with what was typed after an error. */
export function editFields(names: Names, { type, name, claims, sources }: ShownCandidate, version: string, given: Given = {}): object {
  const { t } = names;
  const kept = given['version'] === undefined ? null : [given['keep[]'] ?? []].flat().map(Number);
  const leaders = leadersOf(claims);
  const nameAt = claims.findIndex(({ property }) => property === 'name');
  return {
    version, name: given['name'] ?? name,
    types: ACTOR_TYPES.map((one) => ({ type: one, label: t(`types.${one}`), isChosen: one === (given['type'] ?? type) })),
    claims: claims.flatMap((claim, at) => (at === nameAt || leaders[at] !== at ? [] : [{
      at, label: t(`properties.${claim.property}`), text: shownValue(claim, names).text, isText: TEXTS.includes(claim.property), value: given[`value_${at}`] ?? claim.value, isKept: kept === null || kept.includes(at),
    }])),
    properties: ADDED.map((property) => ({ property, label: t(`properties.${property}`), isChosen: property === given['property'] })), value: given['value'],
    sources: sources.map(({ local_id, url, title }) => ({ id: local_id, title: title ?? url, isChosen: local_id === given['source'] })),
  };
}

/** Returns the correction that a form describes. Throws `invalid_request` whose detail is a key of the texts. */
export async function changeOf({ directory }: Discovery, { request, t }: RunPage, tx: Tx, row: CandidateRow): Promise<CandidateChange> {
  const { values, given } = readForm(request, form, t);
  if (!values) throw fault(String(given['name'] ?? '').trim() === '' ? 'edit.no_name' : 'edit.invalid');
  // The claims are numbered as the page showed them.
  if (values.version !== row.updated_at) throw fault('edit.changed');
  const { claims, sources } = shownCandidate(row);
  const nameAt = claims.findIndex(({ property }) => property === 'name');
  const leaders = leadersOf(claims);
  const kept = claims.flatMap((claim, at): ClaimDraft[] => {
    const leader = leaders[at]!;
    if (leader === nameAt) return [corrected(claim as ClaimDraft, values.name)];
    return values.keep.includes(leader) ? [corrected(claim as ClaimDraft, given[`value_${leader}`])] : [];
  });
  if (values.property === '' || values.value === '') return { type: values.type, name: values.name, claims: kept };
  const source = sources.find(({ local_id }) => local_id === values.source) ?? sources[0]!;
  const value = values.property === 'place' ? (await directory.resolvePlace(tx, values.value)).place?.place_key : values.value;
  if (value === undefined) throw fault('edit.unknown_place');
  return { type: values.type, name: values.name, claims: [...kept, { property: values.property, value, source_local_id: source.local_id }] };
}

/** Returns for each claim the first one with the same value: the form shows a value once, however many sources state it. */
function leadersOf(claims: ShownCandidate['claims']): number[] {
  const keys = claims.map(({ property, value }) => JSON.stringify([property, value]));
  return keys.map((key) => keys.indexOf(key));
}

function corrected(claim: ClaimDraft, value: unknown): ClaimDraft {
  return TEXTS.includes(claim.property) && typeof value === 'string' && value.trim() !== '' ? { ...claim, value: value.trim() } : claim;
}

function fault(key: string): Error {
  return problem('invalid_request', { detail: key });
}
