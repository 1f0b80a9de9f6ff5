import type { Reader } from 'civic';
import type { Places } from '../places/service.ts';
import { hiddenClaims, withoutClaims, type NewClaims } from '../policy/claims.ts';
import type { FieldPolicy } from '../policy/fields.ts';
import type { Taxonomy } from '../taxonomy/service.ts';
import type { ActorDraft, ClaimDraft } from '../types.ts';
import { isPlainDraft } from './plain.ts';
import { actorDraft } from './schemas.ts';
import type { Checked, DraftFault } from './service.ts';
import { futureTimes } from './times.ts';
import { normalUrl } from './url.ts';

export interface CheckContext {
  places: Places;
  taxonomy(): Taxonomy;
  policy: FieldPolicy;
  /** In milliseconds; a later time is an error. */
  now: number;
}

/** Of descriptions and excerpts; every other value is shorter. */
const LONGEST_TEXT = 5000;

/** Reads drafts strictly. Every fault of a draft is told at once, with a pointer to it. */
export async function checkDrafts(reader: Reader, inputs: unknown[], context: CheckContext): Promise<Checked[]> {
  const checked = inputs.map(readDraft);
  const places = await placesNamed(reader, checked, context);
  return leaveOutHidden(reader, inputs, checked.map((one) => ('draft' in one ? checkMeaning(one.draft, places, context) : one)), context.policy);
}

async function leaveOutHidden(reader: Reader, inputs: unknown[], checked: Checked[], policy: FieldPolicy): Promise<Checked[]> {
  const drafts = checked.map((one) => ('draft' in one ? newClaims(one.draft) : NOTHING));
  const hidden = await hiddenClaims(reader, drafts, policy);
  return checked.map((one, at) => {
    if ('faults' in one || hidden[at]!.length === 0) return one;
    // The claim of the type may have been added before the others.
    const added = one.draft.claims.length - (inputs[at] as ActorDraft).claims.length;
    return {
      draft: withoutClaims(one.draft, hidden[at]!.map(({ claim }) => claim)),
      hidden: hidden[at]!.map(({ claim, fault }) => ({ pointer: `/claims/${one.draft.claims.indexOf(claim) - added}`, detail: fault.detail })),
    };
  });
}

const NOTHING: NewClaims = { type: 'organization', visibility: 'workspace', sources: [], claims: [] };

function newClaims({ type, visibility = 'public', sources, claims }: ActorDraft): NewClaims {
  const stated = claims.find(({ property }) => property === 'type')?.value as ActorDraft['type'] | undefined;
  return { type: stated ?? type, visibility, sources, claims };
}

function readDraft(input: unknown): Checked {
  if (isPlainDraft(input)) return { draft: input as ActorDraft, hidden: [] };
  const longText = longTextIn(input, '');
  if (longText !== null) return { faults: [{ pointer: longText, detail: `is longer than ${LONGEST_TEXT} characters` }] };
  const { value, error } = actorDraft.validate(input, { abortEarly: false, errors: { wrap: { label: false } } });
  if (!error) return { draft: value as ActorDraft, hidden: [] };
  return { faults: error.details.map((detail) => ({ pointer: `/${detail.path.join('/')}`, detail: detail.message })) };
}

/** The pointer to a text that is longer than any value may be: its form is not worth checking. Drafts are not deep. */
function longTextIn(value: unknown, pointer: string): string | null {
  if (typeof value === 'string') return value.length > LONGEST_TEXT ? pointer : null;
  if (value === null || typeof value !== 'object') return null;
  for (const [name, inner] of Object.entries(value)) {
    const found = longTextIn(inner, `${pointer}/${name}`);
    if (found !== null) return found;
  }
  return null;
}

/** Canonical keys by what was written: a slug or a synonym is as good as a key. */
async function placesNamed(reader: Reader, checked: Checked[], { places }: CheckContext): Promise<Map<string, string | null>> {
  const written = new Set<string>();
  for (const one of checked) {
    if ('draft' in one) for (const claim of one.draft.claims) if (claim.property === 'place') written.add(claim.value as string);
  }
  const known = await places.byKeys(reader, [...written]);
  const named = new Map<string, string | null>();
  for (const text of written) named.set(text, known.has(text) ? text : (await places.byKey(reader, text))?.place_key ?? null);
  return named;
}

function checkMeaning(draft: ActorDraft, places: Map<string, string | null>, { taxonomy, now }: CheckContext): Checked {
  const faults: DraftFault[] = futureTimes(draft, now);
  const localIds = new Set(draft.sources.map(({ local_id }) => local_id));
  if (localIds.size < draft.sources.length) faults.push({ pointer: '/sources', detail: 'two sources have the same local_id' });
  draft.claims.forEach((claim, index) => {
    const fault = claimFault(claim, localIds, places, taxonomy());
    if (fault) faults.push({ pointer: `/claims/${index}/${fault.member}`, detail: fault.detail });
  });
  if (!draft.claims.some(({ property }) => property === 'name')) faults.push({ pointer: '/claims', detail: 'a claim with the property "name" is required' });
  if (faults.length > 0) return { faults };
  return { draft: completed(draft, places), hidden: [] };
}

function claimFault(claim: ClaimDraft, localIds: Set<string>, places: Map<string, string | null>, taxonomy: Taxonomy): { member: string; detail: string } | null {
  if (!localIds.has(claim.source_local_id)) return { member: 'source_local_id', detail: `no source has the local_id "${claim.source_local_id}"` };
  if (claim.property === 'place' && !places.get(claim.value as string)) return { member: 'value', detail: `"${claim.value as string}" is no place: write a key such as kansas-city,missouri` };
  if (claim.property === 'issue_area' && !taxonomy.issueAreaBySlug(claim.value as string)) return { member: 'value', detail: `"${claim.value as string}" is no issue area: see /api/issue-areas` };
  return null;
}

/** The type is a claim like all else: it stands on the source of the name. */
function completed(draft: ActorDraft, places: Map<string, string | null>): ActorDraft {
  const claims = draft.claims.map((claim) => (claim.property === 'place' ? { ...claim, value: places.get(claim.value as string)! } : claim));
  if (!claims.some(({ property }) => property === 'type')) {
    const { source_local_id, method, first_seen_at, last_seen_at } = claims.find(({ property }) => property === 'name')!;
    claims.unshift({ property: 'type', value: draft.type, source_local_id, method, first_seen_at, last_seen_at });
  }
  return { ...draft, claims, sources: draft.sources.map((source) => ({ ...source, url: normalUrl(source.url) })) };
}
