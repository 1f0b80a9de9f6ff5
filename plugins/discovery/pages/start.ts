import type { ResponseObject } from '@hapi/hapi';
import { Joi, problemOf, readForm, type Texts } from 'civic';
import type { Discovery } from '../context.ts';
import { newRun } from '../runs/schemas.ts';
import { startRun, type NewRun } from '../runs/start.ts';
import { DEPTHS } from '../runs/store.ts';
import { go, type RunPage } from './area.ts';
import { issueName } from './values.ts';

/** What the form of a new run shows after an error. */
export interface Refused {
  errors: Record<string, string>;
  given: Record<string, unknown>;
  status: number;
  /** The names of places that the text may mean, and the addresses that cannot be used. */
  suggestions?: string[];
  /** An error that concerns no field. */
  fault?: string;
}

const form = Joi.object<{ location: string; issue_areas: string[]; depth: NewRun['depth']; seeds: string }>({
  location: Joi.string().trim().max(200).required().messages({ 'string.empty': 'start.no_place', 'any.required': 'start.no_place' }),
  issue_areas: Joi.array().single().items(Joi.string().max(100)).min(1).max(50).required().messages({ '*': 'start.no_issue' }),
  depth: Joi.string().valid(...DEPTHS).default('standard'),
  seeds: Joi.string().trim().allow('').default(''),
}).rename('issue_areas[]', 'issue_areas');

/** Starts the run of a form and leads to its page. Returns what the form shows when it cannot be started. */
export async function startFromForm(discovery: Discovery, page: RunPage): Promise<ResponseObject | Refused> {
  const { t } = page;
  const { values, errors, given } = readForm(page.request, form, t);
  if (!values) return { errors, given, status: 400 };
  const { value, error } = newRun.validate({ ...values, seeds: [...new Set(values.seeds.split(/\s+/).filter(Boolean))] });
  if (error) return { errors: { [String(error.details[0]!.path[0])]: errorOf(error.details[0]!.path, t) }, given, status: 400 };
  try {
    const run = await page.change((tx, caller) => startRun(discovery, tx, { ...caller, ...page.owner }, value as NewRun));
    return go(page, `/${run.id}`);
  } catch (thrown) {
    const found = problemOf(thrown);
    if (!found || found.status >= 500) throw thrown;
    if (found.code === 'run_quota_spent') return { errors: {}, given, status: found.status, fault: t('start.spent') };
    const pointer = found.errors?.[0]?.pointer;
    if (pointer === undefined) throw thrown;
    const [, field, at] = pointer.split('/');
    return { errors: { [field!]: errorOf([field!, Number(at)], t, (value as NewRun).seeds) }, given, status: found.status, suggestions: found.extra?.['suggestions'] as string[] | undefined };
  }
}

function errorOf([field, at]: (string | number)[], t: Texts, seeds: string[] = []): string {
  if (field === 'location') return t('start.unknown_place');
  if (field === 'issue_areas') return t('start.no_issue');
  return seeds[Number(at)] === undefined ? t('start.wrong_seed', { number: Number(at) + 1 }) : t('start.refused_seed', { address: seeds[Number(at)]! });
}

/** Returns all issues by topic, named in the language of `t`. */
export async function issueGroups({ directory }: Discovery, t: Texts, chosen: unknown): Promise<object[]> {
  const slugs = [chosen ?? []].flat();
  return (await directory.taxonomy()).map(({ slug, name, issue_areas }) => ({
    name: t.declared('directory', `domains.${slug}.name`, name),
    hasChosen: issue_areas.some((issue) => slugs.includes(issue.slug)),
    issues: issue_areas.map((issue) => ({ slug: issue.slug, name: issueName(directory, issue.slug, t), isChosen: slugs.includes(issue.slug) })),
  }));
}
