import type { NoticeRule } from './notice.ts';

/**
 * The shortest notice that the open-meetings law of a state of the United States requires of a meeting of a local body, by the abbreviation of the state. States whose
 * law only requires reasonable notice are missing. Where a law excludes weekends and holidays, or counts working days, the hours are those of an ordinary week.
 */
const HOURS: Record<string, [hours: number, law: string]> = {
  AZ: [24, 'A.R.S. 38-431.02'],
  CA: [24, 'Cal. Gov. Code 54956'],
  CO: [24, 'C.R.S. 24-6-402'],
  CT: [24, 'Conn. Gen. Stat. 1-225'],
  GA: [24, 'O.C.G.A. 50-14-1'],
  HI: [144, 'HRS 92-7'],
  IA: [24, 'Iowa Code 21.4'],
  IL: [48, '5 ILCS 120/2.02'],
  IN: [48, 'Ind. Code 5-14-1.5-5'],
  KY: [24, 'KRS 61.823'],
  LA: [24, 'La. R.S. 42:19'],
  MA: [48, 'M.G.L. c. 30A, s. 20'],
  MI: [18, 'MCL 15.265'],
  MN: [72, 'Minn. Stat. 13D.04'],
  MO: [24, 'RSMo 610.020'],
  NC: [48, 'N.C.G.S. 143-318.12'],
  NH: [24, 'RSA 91-A:2'],
  NJ: [48, 'N.J.S.A. 10:4-8'],
  NM: [72, 'NMSA 10-15-1'],
  NV: [72, 'NRS 241.020'],
  OH: [24, 'Ohio R.C. 121.22'],
  OK: [24, '25 O.S. 311'],
  OR: [24, 'ORS 192.640'],
  PA: [24, '65 Pa.C.S. 709'],
  RI: [48, 'R.I. Gen. Laws 42-46-6'],
  SC: [24, 'S.C. Code 30-4-80'],
  TX: [72, 'Tex. Gov. Code 551.043'],
  UT: [24, 'Utah Code 52-4-202'],
  VA: [72, 'Va. Code 2.2-3707'],
  VT: [24, '1 V.S.A. 312'],
  WA: [24, 'RCW 42.30.080'],
  WI: [24, 'Wis. Stat. 19.84'],
};

export const STATE_RULES: Record<string, NoticeRule> = Object.fromEntries(Object.entries(HOURS).map(([state, [hours, source]]) => [state, { hours, source }]));
