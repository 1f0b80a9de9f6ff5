import type { AttentionSource } from 'civic/console';
import type { Ingest } from '../context.ts';
import { countFailing } from '../sources/store.ts';
import { SOURCES } from './area.ts';

/** Reminds administrators of failing sources of the operator until they are fixed, paused or deleted. */
export function failingAttention({ civic }: Ingest): AttentionSource {
  return {
    plugin: 'ingest',
    async load(language) {
      const { count, detail } = await countFailing(civic.db.read);
      if (count === 0) return [];
      const t = await civic.texts(language);
      return [{ title: t('attention.failing', { count }), detail: detail ?? undefined, isUrgent: false, link: { label: t('sources.title'), path: SOURCES } }];
    },
  };
}
