/** What Schemathesis reports about one request. */
export interface Finding {
  check: string;
  /** `GET /api/places/{place_key}`. */
  operation: string;
  /** Of the problem that was returned. */
  code: string | null;
  detail: string;
  request: string;
}

/** A finding that is a misreading of the tool, with the reason. */
interface Allowed {
  explains(finding: Finding): boolean;
  reason: string;
}

const ACCEPTANCE = 'positive_data_acceptance';
const isRejected = (finding: Finding, text: string): boolean => finding.check === ACCEPTANCE && finding.detail.includes(text);

export const allowed: Allowed[] = [
  {
    explains: ({ check, code }) => check === ACCEPTANCE && ['invalid_cursor', 'invalid_event_id'].includes(code ?? ''),
    reason: 'A cursor or event id is opaque: only one that the server gave is valid, which a schema cannot say.',
  },
  {
    explains: (finding) => isRejected(finding, 'U+0000 or half of a surrogate pair'),
    reason: 'No text may hold U+0000 or half of a surrogate pair; saying so would need a pattern at every string.',
  },
  {
    explains: (finding) => isRejected(finding, 'a ticket, not both'),
    reason: 'A ticket stands instead of the API key that every request of this run carries.',
  },
  {
    explains: (finding) => isRejected(finding, 'Traceparent is not of the form'),
    reason: 'The Firehose rejects a malformed Traceparent, every other route begins a new trace; the header is declared once for all.',
  },
  {
    explains: ({ check, operation }) => check === ACCEPTANCE && operation.startsWith('HEAD '),
    reason: 'A rejected HEAD has no body that tells which of these reasons it is; the same request as GET is tested, too.',
  },
  {
    explains: ({ code, operation }) => code === 'upgrade_required' && operation.endsWith('/socket'),
    reason: 'The tool is no WebSocket client; 426 says so.',
  },
  {
    explains: ({ check, detail }) => ['negative_data_rejection', ACCEPTANCE].includes(check) && / 431 /.test(detail),
    reason: 'Node rejects 16 kB of address and headers with 431 before parameters are read; the tool does not know 431, and sends several long parameters at once.',
  },
  {
    explains: ({ operation, detail }) => operation === 'GET /api/exports/entities' && detail.includes('expected a single document'),
    reason: 'Open States YAML is a stream of documents; the tool reads only one.',
  },
  {
    explains: ({ check, operation }) => check === 'allow_header_conformance' && operation.endsWith('/api/workspaces/join'),
    reason: 'GET /api/workspaces/{id} responds to the id `join`, too, with 404; Allow is right.',
  },
  {
    explains: (finding) => isRejected(finding, 'length must be less than or equal to') && /%F[0-4]|\\ud[89ab]/i.test(finding.request),
    reason: 'Lengths are counted in UTF-16 units, as most clients count; the tool counts a character outside the basic plane once.',
  },
  {
    explains: (finding) => finding.code === 'invalid_request' && /\/api\/entities(\/\{id\})?$/.test(finding.operation) && isRejected(finding, '"pointer":"/') && /"pointer":"\/(claims|add|sources)/.test(finding.detail),
    reason: 'Rules between members: the form of a claim’s value depends on its property, and it names a source of the same body.',
  },
  {
    explains: ({ check, code }) => check === ACCEPTANCE && code === 'unknown_claim',
    reason: 'Only a claim that the actor has can be retracted or ranked.',
  },
  {
    explains: (finding) => isRejected(finding, 'must be a valid uri'),
    reason: 'The format uri takes host names that are longer than DNS allows.',
  },
  {
    explains: (finding) => isRejected(finding, 'The body is empty'),
    reason: 'A file of no bytes is no import; a schema has no minimum length for bytes.',
  },
];
