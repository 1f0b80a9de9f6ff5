import type { Example, Examples } from 'civic';
import { RUNS } from './runs/runs.ts';

/** The address does not exist, so that no example sends requests to a real site. */
const started = { location: 'Kansas City, MO', issue_areas: ['housing_affordability'], seeds: ['https://tenants.example/about'] };
const startedRun: Example = { given: { run: { of: `POST ${RUNS}`, body: started } }, params: { id: '$run' } };
const run: Example = { params: { id: '$run' }, variables: { run: 'the id of a run' }, manual: 'A run must have found candidates: add a watched source whose pages name people or bodies, and read it.' };
const candidate: Example = { ...run, params: { id: '$run', cid: '$candidate' }, variables: { run: 'the id of a run', candidate: 'the id of one of its candidates' } };

/** What a local tool sends after a review. */
const synced = {
  tool: { name: 'scout', version: '1.0.0' }, local_run_id: 'run-1', location: 'Kansas City, MO', issue_areas: ['housing_affordability'],
  sources: [{ local_id: 's1', url: 'https://tenants.example/about', title: 'About us', retrieved_at: '2026-01-10T10:00:00Z' }],
  entries: [{ local_id: 'e1', decision: 'accepted', type: 'organization', name: 'Westside Tenants Union', claims: [{ property: 'name', value: 'Westside Tenants Union', source_local_id: 's1', excerpt: 'The Westside Tenants Union was founded in 2011' }] }],
};

/** Requests for `/docs`. */
export const discoveryExamples: Examples = {
  [`GET ${RUNS}`]: { query: { scope: 'workspace' } },
  [`POST ${RUNS}`]: { body: started },
  [`POST ${RUNS}/syncs`]: { body: synced },
  [`GET ${RUNS}/proposals`]: {},
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
