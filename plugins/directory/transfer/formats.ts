import type { Format } from './format.ts';
import { csv } from './csv.ts';
import { hsds } from './hsds.ts';
import { irs } from './irs.ts';
import { meetings } from './meetings.ts';
import { ndjson } from './ndjson.ts';
import { openstates } from './openstates.ts';
import { popolo } from './popolo.ts';
import { schemaorg } from './schemaorg.ts';

/** Their libraries are loaded when one of them is used. */
export const FORMATS: readonly Format[] = [ndjson, csv, popolo, openstates, hsds, irs, schemaorg, meetings];

export function formatByName(name: string): Format | null {
  return FORMATS.find((format) => format.name === name) ?? null;
}
