import type { Weights } from './score.ts';

// Written by `civic eval extraction --fit`, from the pages for tuning (`splitOf` in eval/pages.ts).

export const ORGANIZATION_WEIGHTS: Weights = {
  bias: -3.23, legal: 2.45, strong: 0.93, strong_end: 0.81, body: 0.54, copyright: 2.32, title_part: 1.9, host: 1.88, site_name: 1, before_address: 1.62, class_org: 0.15,
  employer: 1.5, listed_member: 3, trade_end: 0.55, label: -2.91, generic: -1.88, some_label: -1.65, place: -1.61, street: -2, like_person: -1, role_line: -1.04, role_word: -0.56,
  common_words: -0.11, part_of_run: -0.37, in_address: -1.38, 'strong+prose': -0.13, 'title_part+host': -0.28, 'title_part+heading': -0.19,
  'whole_line+before_address': 1.12, 'legal+prose': 0.14, 'trade_end+link_alone': -0.34, 'legal+whole_line': 1.24, 'strong+whole_line': -0.45,
  'title_part+whole_line': -0.11, 'copyright+legal': -0.05, 'copyright+title_part': -0.28, 'trade_end+before_address': 0.24, 'strong+before_address': -0.28,
  'host+before_address': 0.33, 'words_1+copyright': 0.06, 'trade_end+prose': -0.15, 'in_title+words_1': -0.38, 'legal+link_alone': -0.16, words_1: -0.76, whole_line: 0.46,
  link_alone: -1.44, class_nav: 0.08, words_6: 0.95, main: 0.23, mentions_2: 0.59, words_2: -0.88, before_contact: 0.36, words_4: 0.28, ampersand: -0.27, words_3: 0.28,
  by_title: 0.9, host_start: 0.93, strong_inside: -0.58, words_5: 0.12, in_title: 0.77, linked: -0.43, upper: 0.35, heading: -0.44, prose: 0.43, before_verb: 0.53,
  mentions_4: 0.57, number_first: -0.13, the: -0.39,
};

export const PERSON_WEIGHTS: Weights = {
  bias: -3.21, first: 2.42, weak_first: -0.81, surname: 1, initial: 0.95, initial_first: 0.79, generation: 1.5, office: 1.82, role_after: 1.48, role_near: 1.6,
  email_match: 1.63, contact_near: 0.46, name_column: 1.1, class_person: 0.5, group_of_names: 0.38, introduced: 0.53, before_verb: 0.39, whole_line: 0.41, label_word: -2.53,
  organization_word: -2.51, place_word: -1.01, common_word: -1.51, words_4: -0.81, part_of_run: -1.21, link_alone: -0.44, class_nav: -0.88, in_address: -2,
  before_address: -0.3, located: -2, upper: -0.31, last_is_first: -0.16, 'whole_line+role_near': 0.81, 'first+whole_line': 0.27, 'first+link_alone': 0.09,
  'first+prose': 0.14, 'first+words_2': 0.22, 'first+group_of_names': -0.07, words_2: 0.09, main: 0.2, words_3: -0.08, prose: 0.14, mentions_2: 0.12,
};
