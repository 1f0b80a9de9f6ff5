import type { Example, Examples } from 'civic';
import { RUNS } from './runs/runs.ts';

/** The address does not exist, so that no example sends requests to a real site. */
const started = { location: 'Kansas City, MO', issue_areas: ['housing_affordability'], seeds: ['https://tenants.example/about'] };
const startedRun: Example = { given: { run: { of: `POST ${RUNS}`, body: started } }, params: { id: '$run' } };
const run: Example = { params: { id: '$run' }, variables: { run: 'the id of a run' }, manual: 'A run must have found candidates: add a watched source whose pages name people or bodies, and read it.' };
const candidate: Example = { ...run, params: { id: '$run', cid: '$candidate' }, variables: { run: 'the id of a run', candidate: 'the id of one of its candidates' } };

/** Requests for `/docs`. */
export const discoveryExamples: Examples = {
  [`GET ${RUNS}`]: { query: { scope: 'workspace' } },
  [`POST ${RUNS}`]: { body: started },
  [`POST ${RUNS}/{id}/cancel`]: { ...startedRun, manual: 'The run must not have ended.' },
  [`GET ${RUNS}/{id}`]: startedRun,
  [`GET ${RUNS}/{id}/events`]: { ...startedRun, seconds: 3 },
  [`GET ${RUNS}/{id}/sources`]: startedRun,
  [`GET ${RUNS}/{id}/candidates`]: startedRun,
  [`GET ${RUNS}/{id}/candidates/{cid}`]: candidate,
  [`PATCH ${RUNS}/{id}/candidates/{cid}`]: { ...candidate, body: { name: 'Westside Tenants Union' } },
  [`POST ${RUNS}/{id}/candidates/{cid}/decision`]: { ...candidate, body: { decision: 'accept' } },
  [`DELETE ${RUNS}/{id}/candidates/{cid}/decision`]: candidate,
};
