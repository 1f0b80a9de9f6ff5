import { compare, strongIdentifiers, type Comparison, type Field, type Level } from './compare.ts';
import { DEFAULTS } from './defaults.ts';
import type { Prepared } from './profile.ts';
import { explain, probability, type Explained } from './weights.ts';

/** `match`: one actor. `review`: somebody should look. `no`: two actors. */
export type Zone = 'match' | 'review' | 'no';

export interface Verdict {
  zone: Zone;
  /** The chance that the two are one, from the weights alone. */
  probability: number;
  /** The rule that decided or held back what the weights would have said, in words; null when they decided. */
  rule: string | null;
  explanation: Explained[];
}

const MATCH_FROM = 0.95;
const REVIEW_FROM = 0.3;

/** Judges whether two actors are one: by rules where they speak, else by the weights. */
export function judge(left: Prepared, right: Prepared): Verdict {
  const comparisons = compare(left, right);
  const { prior, fields } = DEFAULTS[left.isPerson && right.isPerson ? 'person' : 'organization'];
  const explanation = explain(comparisons, { prior, fields });
  const chance = probability(explanation, prior);
  const { agree, conflict } = strongIdentifiers(left, right);
  const sameType = left.profile.type === right.profile.type;
  const verdict = (zone: Zone, rule: string | null): Verdict => ({ zone, probability: chance, rule, explanation });

  if (agree.length > 0 && conflict.length > 0) return verdict('review', `They agree on ${agree.join(', ')} and differ in ${conflict.join(', ')}`);
  if (agree.length > 0) return sameType ? verdict('match', `The same ${agree.join(', ')}`) : verdict('review', `The same ${agree.join(', ')}, but of different types`);
  if (conflict.length > 0) return verdict('no', `Different ${conflict.join(', ')}`);
  if (areOtherDays(left, right)) return verdict('no', 'Events on different days');
  const level = (field: Field) => comparisons.find((comparison) => comparison.field === field)!.level;
  if (level('name') === 'disagree') return isRenamed(comparisons[0]!, level) ? verdict('review', 'Another name, but the same addresses') : verdict('no', 'Different names');
  const byWeight: Zone = chance >= MATCH_FROM ? 'match' : chance >= REVIEW_FROM ? 'review' : 'no';
  const held = heldBack(left, right, comparisons[0]!, level);
  return byWeight === 'match' && held ? verdict('review', held) : verdict(byWeight, null);
}

function areOtherDays(left: Prepared, right: Prepared): boolean {
  const [one, other] = [left.profile.dates, right.profile.dates];
  return one.length > 0 && other.length > 0 && !one.some((day) => other.includes(day));
}

/** Organizations and people change their names and keep their addresses; branches and colleagues share some of them. */
function isRenamed(name: Comparison, level: (field: Field) => Level): boolean {
  const levels = (['website', 'email', 'phone'] as const).map(level);
  if (name.unrelated === undefined) return level('email') === 'exact' && levels.every((one) => one !== 'disagree');
  return name.unrelated && levels.filter((one) => one === 'exact').length >= 2 && levels.every((one) => one === 'exact' || one === 'missing');
}

/** Why a pair that the weights would merge is shown to somebody first. */
function heldBack(left: Prepared, right: Prepared, name: Comparison, level: (field: Field) => Level): string | null {
  if (left.profile.type !== right.profile.type) return 'Of different types';
  if (name.level === 'partial') return 'Their names agree only in part';
  if ((['email', 'phone', 'website', 'identifier'] as const).some((field) => level(field) === 'exact')) return null;
  if (left.isPerson) return 'Names and places alone never merge people';
  if (level('place') !== 'exact') return 'Nothing agrees but the name';
  return name.frequent ? 'Many organizations have such a name' : null;
}
