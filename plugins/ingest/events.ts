import { Joi, type EventKind } from 'civic';

/** A source of the operator was changed or deleted, so that calendars and pages list other meetings. */
export interface SourceChanged {
  id: string;
}

declare module 'civic' {
  interface Events {
    'ingest.source_changed': SourceChanged;
  }
}

export const ingestEvents: Record<string, EventKind> = {
  'ingest.source_changed': { summary: 'A watched source of the operator was changed or deleted', version: 1, payload: Joi.object<SourceChanged, true>({ id: Joi.string().required() }) },
};
