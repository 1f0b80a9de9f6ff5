import type { Example, Examples } from 'civic';
import { RUNS } from './runs/runs.ts';

const run: Example = { params: { id: '$run' }, variables: { run: 'the id of a run' }, manual: 'A run must have found candidates: add a watched source whose pages name people or bodies, and read it.' };
const candidate: Example = { ...run, params: { id: '$run', cid: '$candidate' }, variables: { run: 'the id of a run', candidate: 'the id of one of its candidates' } };

/** Requests for `/docs`. */
export const discoveryExamples: Examples = {
  [`GET ${RUNS}`]: { query: { scope: 'workspace' } },
  [`GET ${RUNS}/{id}`]: run,
  [`GET ${RUNS}/{id}/candidates`]: run,
  [`GET ${RUNS}/{id}/candidates/{cid}`]: candidate,
  [`PATCH ${RUNS}/{id}/candidates/{cid}`]: { ...candidate, body: { name: 'Westside Tenants Union' } },
  [`POST ${RUNS}/{id}/candidates/{cid}/decision`]: { ...candidate, body: { decision: 'accept' } },
  [`DELETE ${RUNS}/{id}/candidates/{cid}/decision`]: candidate,
};
