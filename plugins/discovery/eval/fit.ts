import type { Document } from 'civic/reader';
import { candidatesOf } from '../extract/extract.ts';
import { featuresOf, pairsOf, type Weights } from '../extract/score.ts';
import { foldName } from '../extract/text.ts';
import type { MarkedPage, MarkedType } from './pages.ts';

interface Example {
  features: string[];
  isName: boolean;
}

/** What is known beforehand of features and of pairs of them. The weights are drawn to these values, because there are few pages, and business pages are many among them. */
const PRIORS: Record<MarkedType, Weights> = {
  organization: {
    bias: -2, legal: 1, strong: 1, strong_end: 0.3, body: 1, copyright: 1, title_part: 1, host: 0.8, site_name: 1, before_address: 0.7, class_org: 0.5, employer: 1.5, listed_member: 3, trade_end: 0.4,
    label: -2.5, generic: -1.5, some_label: -0.5, place: -1.5, street: -2, like_person: -1, role_line: -1, role_word: -0.5, common_words: -0.7, part_of_run: -0.3, in_address: -1,
    'strong+prose': 0.5, 'title_part+host': 0, 'title_part+heading': 0, 'whole_line+before_address': 0, 'legal+prose': 0, 'strong+link_alone': 0, 'trade_end+link_alone': 0, 'legal+whole_line': 0, 'strong+whole_line': 0,
    'title_part+whole_line': 0, 'copyright+legal': 0, 'copyright+title_part': 0, 'trade_end+before_address': 0, 'strong+before_address': 0, 'host+before_address': 0, 'words_1+host': 0, 'words_1+title_part': 0,
    'words_1+copyright': 0, 'trade_end+prose': 0, 'in_title+words_1': 0, 'legal+link_alone': 0,
  },
  person: {
    bias: -2.2, first: 2.2, weak_first: -0.8, surname: 1, initial: 1, initial_first: 0.8, generation: 1.5, office: 1.8, role_after: 1.6, role_near: 1.6, email_match: 1.6, contact_near: 0.4, name_column: 1, class_person: 0.5,
    group_of_names: 0.6, introduced: 0.5, before_verb: 0.4, whole_line: 0.3, label_word: -2.5, organization_word: -2.5, place_word: -1, common_word: -1.5, words_4: -0.8, part_of_run: -1.2, link_alone: -0.4, class_nav: -0.8,
    in_address: -2, before_address: -0.3, located: -2, upper: -0.3, last_is_first: -0.2, 'whole_line+role_near': 0.8, 'first+surname': 0, 'first+whole_line': 0, 'first+role_near': 0, 'first+email_match': 0, 'first+link_alone': 0,
    'first+prose': 0, 'first+label_word': 0, 'first+organization_word': 0, 'first+common_word': 0, 'first+words_2': 0, 'first+group_of_names': 0, 'first+part_of_run': 0,
  },
};
/** How strongly weights are drawn to what is known beforehand: there are fewer people than organizations to learn from. */
const PULL: Record<MarkedType, number> = { organization: 1.5, person: 20 };
/** The probability that becomes a score of one half; chosen by cross-validation on the pages for tuning. */
const MIDDLE: Record<MarkedType, number> = { organization: 0.38, person: 0.33 };
const STEPS = 1500;
const RATE = 0.5;
/** A feature of fewer examples keeps what is known beforehand. */
const LEAST_EXAMPLES = 4;
/** Smaller weights are left out. */
const LEAST_WEIGHT = 0.05;

/** Fits the weights of both types on marked pages by logistic regression, as `extract/weights.ts` has them. The same pages always give the same weights. */
export function fitWeights(pages: { page: MarkedPage; document: Document }[]): Record<MarkedType, Weights> {
  const fitted = (type: MarkedType) => rounded(shifted(fit(pages.flatMap(({ page, document }) => examplesOf(page, document, type)), PRIORS[type], PULL[type]), MIDDLE[type]));
  return { organization: fitted('organization'), person: fitted('person') };
}

function examplesOf(page: MarkedPage, document: Document, type: MarkedType): Example[] {
  const marked = new Set(page.names[type].map(foldName));
  const pairs = pairsOf(PRIORS[type]);
  return candidatesOf(document).candidates[type].map(([key, candidate]) => ({ features: ['bias', ...featuresOf(candidate, pairs)], isName: marked.has(key) }));
}

function fit(all: Example[], prior: Weights, pull: number): Weights {
  const counts = new Map<string, number>();
  for (const { features } of all) for (const feature of features) counts.set(feature, (counts.get(feature) ?? 0) + 1);
  const examples = all.map(({ features, isName }) => ({ features: features.filter((feature) => counts.get(feature)! >= LEAST_EXAMPLES), isName }));
  const weights: Weights = { ...prior };
  const squares: Weights = {};
  for (let step = 0; step < STEPS; step++) {
    const slopes: Weights = {};
    for (const { features, isName } of examples) {
      const sum = features.reduce((total, feature) => total + (weights[feature] ?? 0), 0);
      const error = 1 / (1 + Math.exp(-sum)) - Number(isName);
      for (const feature of features) slopes[feature] = (slopes[feature] ?? 0) + error;
    }
    for (const [feature, slope] of Object.entries(slopes)) {
      const whole = slope + (feature === 'bias' ? 0 : pull * ((weights[feature] ?? 0) - (prior[feature] ?? 0)));
      squares[feature] = (squares[feature] ?? 1e-6) + whole ** 2;
      weights[feature] = (weights[feature] ?? 0) - (RATE * whole) / Math.sqrt(squares[feature]);
    }
  }
  return weights;
}

function shifted(weights: Weights, middle: number): Weights {
  return { ...weights, bias: weights['bias']! - Math.log(middle / (1 - middle)) };
}

function rounded(weights: Weights): Weights {
  return Object.fromEntries(Object.entries(weights).filter(([, weight]) => Math.abs(weight) >= LEAST_WEIGHT).map(([feature, weight]) => [feature, Math.round(weight * 100) / 100]));
}
