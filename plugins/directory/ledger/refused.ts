import { problem } from 'civic';
import type { DraftFault } from './service.ts';

const inWords = (faults: DraftFault[]): string => [...new Set(faults.map(({ detail }) => detail))].join('; ');

export function refused(faults: DraftFault[]): Error {
  return problem('invalid_request', { detail: faults.map(({ detail }) => detail).join('; '), errors: faults });
}

/** For claims that the field policy does not allow in public. */
export function notPublic(faults: DraftFault[]): Error {
  const detail = inWords(faults);
  return problem('field_policy', { detail: `${detail[0]!.toUpperCase()}${detail.slice(1)}.`, errors: faults });
}
