import type { SignalDraft } from '../../plugins/firehose/types.ts';

/** Is in every signal once and in no other frame: what streams are counted by. */
export const MARK = '~~';

const PLACE = 'kansas-city,missouri';
const ISSUE = 'housing_affordability';

/** Different filters that all match what is published. */
const QUERIES = [
  `place=${PLACE}`,
  `place=${PLACE}&issue=${ISSUE}`,
  `issue=${ISSUE}&visibility=public`,
  'signal_type=public_meeting&signal_type=vote&source_class=government_agenda',
];

export function queryOf(subscriber: number): string {
  return QUERIES[subscriber % QUERIES.length]!;
}

/** As told by a believable source; `size` pads its summary. */
export function draft(size = 0): SignalDraft {
  return {
    type: 'public_meeting', title: `Hearing ${MARK} on rents and repairs`, source_class: 'government_agenda', occurred_at: '2026-11-20T18:00:00.000Z',
    places: [PLACE], issues: [ISSUE], confidence: 0.9,
    summary: 'The council hears tenants and owners before it votes.'.padEnd(size, ' It may take long.'),
    evidence: [{ source_url: 'https://council.example/agendas/2026-11-20', title: 'Agenda of 20 November', publisher: 'City council' }],
  };
}
