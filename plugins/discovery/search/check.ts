import type { Check } from 'civic';
import type { Discovery } from '../context.ts';
import { SearchError } from './engines.ts';

/** Asks each search engine once, and states what the operator does about one that refuses. */
export function searchCheck({ engines }: Pick<Discovery, 'engines'>): Check {
  return {
    name: 'search',
    async run() {
      if (engines.length === 0) return { status: 'ok', detail: 'no search engine: runs begin with seeds, watched sources and pages that were read' };
      const faults: SearchError[] = [];
      for (const { search } of engines) {
        await search('city council', AbortSignal.timeout(30_000)).catch((error: unknown) => { faults.push(error instanceof SearchError ? error : new SearchError((error as Error).message)); });
      }
      if (faults.length === 0) return { status: 'ok', detail: `${engines.map(({ name }) => name).join(' and ')}: results` };
      const fix = faults.flatMap((fault) => fault.fix ?? []).join('\n  ');
      return { status: 'warning', detail: faults.map(({ message }) => message).join(' '), ...(fix !== '' && { fix }) };
    },
  };
}
