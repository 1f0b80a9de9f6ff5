import type { Weights } from './score.ts';

// Fitted by logistic regression on the pages for tuning (`splitOf` in eval/pages.ts), drawn to what is known beforehand, because there are few pages.

export const ORGANIZATION_WEIGHTS: Weights = {
  bias: -3.17, legal: 2.41, strong: 0.91, body: 0.53, copyright: 2.31, title_part: 1.89, host: 1.87, site_name: 1, before_address: 1.61, class_org: 0.15, label: -2.92,
  place: -1.62, street: -2, like_person: -1, role_line: -1.03, role_word: -0.57, common_words: -0.09, some_label: -1.65, part_of_run: -0.37, trade_end: 0.46, generic: -1.88,
  employer: 1.5, strong_end: 0.79, 'strong+prose': -0.13, in_address: -1.39, words_1: -0.79, whole_line: 0.44, link_alone: -1.43, class_nav: 0.08, words_6: 0.95, main: 0.23,
  mentions_2: 0.58, words_2: -0.86, before_contact: 0.35, words_4: 0.3, ampersand: -0.26, words_3: 0.28, by_title: 0.89, host_start: 0.92, strong_inside: -0.58,
  words_5: 0.12, in_title: 0.77, 'in_title+words_1': -0.4, 'whole_line+before_address': 1.11, 'strong+whole_line': -0.45, 'strong+before_address': -0.27,
  'trade_end+before_address': 0.27, linked: -0.42, 'trade_end+link_alone': -0.25, upper: 0.34, heading: -0.43, prose: 0.42, before_verb: 0.55, mentions_4: 0.56,
  'title_part+heading': -0.2, 'title_part+whole_line': -0.11, number_first: -0.13, 'legal+whole_line': 1.23, 'copyright+title_part': -0.28, 'host+before_address': 0.33,
  'trade_end+prose': -0.11, the: -0.38, 'title_part+host': -0.29, 'legal+prose': 0.14, 'legal+link_alone': -0.16,
};

export const ORGANIZATION_PAIRS = Object.keys(ORGANIZATION_WEIGHTS).filter((feature) => feature.includes('+'));

export const PERSON_WEIGHTS: Weights = {
  bias: -3.23, located: -2, 'whole_line+role_near': 0.8, first: 2.42, weak_first: -0.81, surname: 1, initial: 0.95, initial_first: 0.79, generation: 1.5, office: 1.82,
  role_after: 1.48, role_near: 1.6, email_match: 1.63, contact_near: 0.46, name_column: 1.1, class_person: 0.5, group_of_names: 0.38, introduced: 0.53, before_verb: 0.39,
  whole_line: 0.41, label_word: -2.53, organization_word: -2.51, place_word: -1.02, common_word: -1.51, words_4: -0.81, part_of_run: -1.21, link_alone: -0.44,
  class_nav: -0.88, in_address: -2, before_address: -0.3, upper: -0.31, last_is_first: -0.16, words_2: 0.09, main: 0.2, 'first+whole_line': 0.28, 'first+words_2': 0.22,
  words_3: -0.08, prose: 0.14, 'first+prose': 0.14, mentions_2: 0.12,
};

export const PERSON_PAIRS = Object.keys(PERSON_WEIGHTS).filter((feature) => feature.includes('+'));
