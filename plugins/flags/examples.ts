import type { Examples, ExampleValue } from 'civic';

const REPORT = 'POST /api/entity-flags';
const NEEDS = 'The role reviewer or admin, to create the public entry that is reported.';

const ASK = 'POST /api/flags/{id}/messages';
const DECIDE = 'PATCH /api/flags/{id}';

/** Only public entries can be reported. The examples create one, so that none reports an entry of the instance. */
const created = (take: string): ExampleValue => ({
  of: 'POST /api/entities',
  take,
  body: {
    type: 'organization', visibility: 'public',
    sources: [{ local_id: 'web', url: 'https://river.example/office' }],
    claims: [{ property: 'name', value: 'River Office', source_local_id: 'web' }],
  },
});

/** A flag and its receipt. Each example has a reason of its own, because one text on many entries is suspected spam. */
const reported = (reason: string): Record<string, ExampleValue> => ({
  report: { of: REPORT, take: '.', body: { entity_id: '$entry', flag_type: 'incorrect', reason } },
  flag: { of: '$report' },
  receipt: { of: '$report', take: '.receipt' },
});

/** Requests for `/docs`. */
export const flagExamples: Examples = {
  [REPORT]: { needs: NEEDS, given: { entry: created('.id') }, body: { entity_id: '$entry', flag_type: 'stale', reason: 'The office has moved.' } },
  'POST /api/source-flags': { needs: NEEDS, given: { source: created('.sources[0].id') }, body: { source_id: '$source', flag_type: 'broken_link', reason: 'The page is gone.' } },
  'GET /api/flags/receipts/{receipt}': { needs: NEEDS, given: { receipt: { of: REPORT, take: '.receipt' } }, params: { receipt: '$receipt' } },
  'GET /api/flags/receipts/{receipt}/messages': { needs: NEEDS, given: { receipt: { of: REPORT, take: '.receipt' } }, params: { receipt: '$receipt' } },
  'POST /api/flags/receipts/{receipt}/messages': { needs: NEEDS, given: { ...reported('The street is wrong.'), asked: { of: ASK } }, params: { receipt: '$receipt' }, body: { text: 'The new address is 5 Main Street.' } },
  'POST /api/flags/receipts/{receipt}/reopen': { needs: NEEDS, given: { ...reported('The town is wrong.'), decided: { of: DECIDE, body: { status: 'dismissed' } } }, params: { receipt: '$receipt' }, body: { text: 'The page still has the old address.' } },
  'GET /api/flags': { query: { status: 'open' } },
  [DECIDE]: { needs: NEEDS, given: { flag: { of: REPORT } }, params: { id: '$flag' }, body: { status: 'accepted', note: 'Confirmed by telephone' } },
  [ASK]: { needs: NEEDS, given: reported('The number of the house is wrong.'), params: { id: '$flag' }, body: { text: 'Which address is right?' } },
};
