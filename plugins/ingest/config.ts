import { Joi, type ConfigFragment } from 'civic';

export interface IngestConfig {
  cadence_seconds: number;
  cadence_by_tag: Record<string, number>;
  failing_after: number;
  further_pages: number;
  notice_hours: number;
  notice_by_place: Record<string, { hours: number; source: string | null }>;
  read_days: number;
  links: { every_days: number; broken_after: number; retry_days: number; flags_per_day: number };
}

const seconds = Joi.number().integer().min(60).max(31 * 86_400);
const hours = Joi.number().integer().min(1).max(24 * 60);

export const ingestOptions: ConfigFragment = {
  cadence_seconds: { doc: 'How many seconds are between two reads of a watched source.', format: seconds as never, default: 3600 },
  cadence_by_tag: { doc: 'The same for sources with a tag, by tag; the shortest counts.', format: Joi.object().pattern(Joi.string(), seconds) as never, default: {} },
  failing_after: { doc: 'After how many failed reads in a row a source counts as failing.', format: Joi.number().integer().min(1).max(100) as never, default: 3 },
  further_pages: { doc: 'How many further pages, such as agendas, one read of a source may open.', format: Joi.number().integer().min(0).max(1000) as never, default: 60 },
  notice_hours: { doc: 'A meeting that is first seen fewer hours before it begins is reported as short notice, in places for which no rule is known.', format: hours as never, default: 24 },
  notice_by_place: {
    doc: 'The notice that places require, by the key of the place or the abbreviation of its state: hours, and the law that states it. Rules of 32 states of the United States are known; one here replaces them.',
    format: Joi.object().pattern(Joi.string(), Joi.object({ hours: hours.required(), source: Joi.string().max(200).allow(null).default(null) })) as never,
    default: {},
  },
  read_days: { doc: 'How many days the history of reads is kept, and meetings and posts of the past that a source no longer lists.', format: Joi.number().integer().min(1).max(3650) as never, default: 90 },
  links: {
    every_days: { doc: 'How many days are between two checks of the link of a source of the directory; 0 checks none.', format: Joi.number().integer().min(0).max(3650) as never, default: 30 },
    broken_after: { doc: 'After how many failed checks in a row a link counts as broken. The bot of Wikipedia that repairs links takes three.', format: Joi.number().integer().min(1).max(100) as never, default: 3 },
    retry_days: { doc: 'How many days are between a failed check and the next. The same bot waits for three at least.', format: Joi.number().integer().min(1).max(365) as never, default: 3 },
    flags_per_day: { doc: 'How many broken links are reported to reviewers in a day at most; further ones are reported later.', format: Joi.number().integer().min(0).max(10_000) as never, default: 20 },
  },
};
