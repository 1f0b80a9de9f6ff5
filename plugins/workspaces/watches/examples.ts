import type { Examples } from 'civic';
import { recordExamples } from '../examples.ts';

export const watchExamples: Examples = {
  ...recordExamples('/api/workspaces/{id}/watches', 'watch_id', { given: { place: { of: 'GET /api/places', take: '.data[0].place_key' } }, body: { target: { type: 'place', id: '$place' }, delivery: 'digest' } }, { delivery: 'immediate' }),
  'GET /api/workspaces/{id}/digest': { given: { workspace: { of: 'GET /api/workspaces', take: '.data[0].id' } }, params: { id: '$workspace' } },
  'GET /api/workspaces/{id}/feed.atom': {
    given: { workspace: { of: 'GET /api/workspaces', take: '.data[0].id' } }, params: { id: '$workspace' }, variables: { token: 'the secret of your feed' }, query: { token: '$token' },
    manual: 'The secret of a feed is shown once, on the page of the watches.',
  },
};
