import type { Examples } from 'civic';
import type { DirectoryService } from 'civic/directory';

const CREATE = 'POST /api/firehose/sessions';
/** Long enough for the first events of a stream. */
const SECONDS = 3;

/** Requests for `/docs`. Each creates the session that it reads. */
export function firehoseExamples(directory: DirectoryService | null): Examples {
  const ofSession = { given: { session: { of: CREATE } }, params: { id: '$session' } };
  return {
    'GET /api/firehose': [
      { title: 'A page of signals', query: { limit: 5 } },
      { title: 'A stream of events', headers: { Accept: 'text/event-stream' }, seconds: SECONDS },
    ],
    'GET /api/firehose/sessions': {},
    [CREATE]: { body: { query: { signal_types: ['public_meeting', 'vote'] }, delivery: { mode: 'sse' } } },
    'GET /api/firehose/sessions/{id}': ofSession,
    'DELETE /api/firehose/sessions/{id}': ofSession,
    'GET /api/firehose/sessions/{id}/snapshot': ofSession,
    'GET /api/firehose/sessions/{id}/events': { ...ofSession, seconds: SECONDS },
    'GET /api/firehose/sessions/{id}/socket': { ...ofSession, seconds: SECONDS },
    'POST /api/firehose/sessions/{id}/tickets': { ...ofSession, body: {} },
    ...(directory && {
      'GET /api/places/{place_key}/signals': async () => {
        const found = await directory.exampleEntry();
        return found?.place_key ? { params: { place_key: found.place_key } } : null;
      },
    }),
  };
}
