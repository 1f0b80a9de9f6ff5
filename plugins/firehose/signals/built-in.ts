import type { BuiltInType, SignalKind } from '../types.ts';

const CALENDAR = 'M3 5h14v12H3z M3 9h14 M7 3v4 M13 3v4';
const DOCUMENT = 'M5 2.5h7l3 3v12H5z M12 2.5v3h3 M7.5 10h5 M7.5 13h5';
const PERSON = 'M10 3a3.2 3.2 0 1 1 0 6.4A3.2 3.2 0 0 1 10 3z M3.5 17c.6-3.6 3-5.4 6.5-5.4s5.9 1.8 6.5 5.4';

/** Their labels are in the catalogue of texts. */
export const BUILT_IN_KINDS: Record<BuiltInType, Required<Pick<SignalKind, 'family' | 'icon'>>> = {
  public_meeting: { family: 'decisions', icon: CALENDAR },
  meeting_cancelled: { family: 'decisions', icon: 'M3 5h14v12H3z M7 3v4 M13 3v4 M7.5 9l5 5 M12.5 9l-5 5' },
  short_notice: { family: 'decisions', icon: 'M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15z M10 6v4.5l3 2' },
  public_comment: { family: 'decisions', icon: 'M3 4h14v9.5H9L5.5 17v-3.5H3z' },
  vote: { family: 'decisions', icon: 'M3 3h14v14H3z M6.5 10l2.7 2.8L13.8 7' },
  filing: { family: 'records', icon: DOCUMENT },
  grant_award: { family: 'records', icon: 'M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15z M12.6 7.4c-.6-.9-1.5-1.2-2.6-1.2-1.5 0-2.6.7-2.6 1.8 0 2.7 5.4 1.3 5.4 4 0 1.2-1.2 1.9-2.8 1.9-1.3 0-2.3-.5-2.8-1.5 M10 4.6v10.8' },
  coalition_activity: { family: 'people', icon: 'M6.5 4a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z M13.5 4a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z M2 16c.4-3 2-4.5 4.5-4.5s3.1.8 3.5 1.6c.4-.8 1-1.6 3.5-1.6S17.6 13 18 16' },
  new_source: { family: 'sources', icon: 'M5 2.5h10v15H5z M10 7v6 M7 10h6' },
  source_change: { family: 'sources', icon: 'M4 8a6.2 6.2 0 0 1 11-2.5 M15.5 2.5v3.3h-3.3 M16 12a6.2 6.2 0 0 1-11 2.5 M4.5 17.5v-3.3h3.3' },
  role_change: { family: 'people', icon: PERSON },
  freshness_change: { family: 'review', icon: 'M10 3a7 7 0 1 0 7 7 M10 6.5V10l2.5 1.5 M13 3.2l4 .3-.6 3.9' },
  actor_discovered: { family: 'people', icon: `${PERSON} M16 3v4 M14 5h4` },
  actor_merged: { family: 'review', icon: 'M4 3v4c0 3 6 3 6 6v4 M16 3v4c0 3-6 3-6 6' },
  flag_resolved: { family: 'review', icon: 'M5 17.5V3h10l-2.5 3.5L15 10H5' },
  coverage_gap: { family: 'review', icon: 'M16.3 13.2a7 7 0 1 1 0-6.4 M10 6.8v3.6 M10 13.2v.01' },
};
