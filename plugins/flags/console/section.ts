import type { SlotPart } from 'civic';
import type { AttentionSource } from 'civic/console';
import type { Flags } from '../flags.ts';
import { queuePage, queueTotals, stateCounts, type QueueFilter } from '../review/queue-store.ts';
import { SEVERITIES } from '../review/severity.ts';
import { targetNames } from './names.ts';
import { REPORTS } from './page.ts';

const SHOWN = 3;
const OPEN: QueueFilter = { state: 'open', place: null, target: null, types: null, severity: null, before: null };

/** Asks administrators to review open reports; urgently when one is about private information. */
export function reportAttention({ civic }: Flags): AttentionSource {
  return {
    plugin: 'flags',
    async load(language) {
      const urgent = await queueTotals(civic.db.read, { ...OPEN, severity: SEVERITIES.indexOf('urgent') });
      const { open } = await stateCounts(civic.db.read, null);
      if (!open) return [];
      const t = await civic.texts(language);
      return [{
        title: t('queue.attention', { count: open }), detail: urgent.targets > 0 ? t('queue.attention_private', { count: urgent.targets }) : undefined, isUrgent: urgent.targets > 0,
        link: { label: t('queue.review'), path: REPORTS },
      }];
    },
  };
}

/** Shows the first reports of the queue on the home of the console. */
export function reportSection(flags: Flags): SlotPart {
  return {
    partial: 'flags/section',
    load: () => flags.civic.db.snapshot(async (tx) => {
      const rows = await queuePage(tx, OPEN, { after: null, limit: SHOWN });
      const names = await targetNames(flags, tx, rows.map(({ target_type: type, target_id: id }) => ({ type, id })));
      const { open, suspected } = await stateCounts(tx, null);
      return {
        open: open ?? 0, suspected: suspected ?? 0,
        rows: rows.map(({ target_type: type, target_id: id, reports, severity }) => ({ ...names({ type, id }), reports, severity: SEVERITIES[severity] })),
      };
    }),
  };
}
