import type { Examples } from 'civic';
import { recordExamples } from '../examples.ts';

const BRIEFS = '/api/workspaces/{id}/briefs';

export const briefExamples: Examples = {
  ...recordExamples(BRIEFS, 'brief_id', {
    given: { entity: { of: 'GET /api/entities', take: '.data[0].id' } },
    body: { title: 'Rents in Gladstone', scope: { places: ['gladstone,missouri'], issue_areas: ['housing_affordability'] }, summary_md: 'Rents rose by **a tenth** in a year.', entity_ids: ['$entity'] },
  }, { title: 'Rents in Gladstone, spring' }),
  [`GET ${BRIEFS}/{brief_id}/export`]: {
    given: { workspace: { of: 'GET /api/workspaces', take: '.data[0].id' }, entity: { of: 'GET /api/entities', take: '.data[0].id' }, brief: { of: `POST ${BRIEFS}` } },
    params: { id: '$workspace', brief_id: '$brief' }, query: { format: 'md' },
  },
};
