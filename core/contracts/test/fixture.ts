import Hapi, { type Server } from '@hapi/hapi';
import Joi from 'joi';
import type { RouteDeclaration } from '../../plugin.ts';
import { problem, registerProblems, type ProblemKinds } from '../../problems.ts';

export const problems: ProblemKinds = {
  invalid_request: { status: 400, title: 'Bad input', advice: 'Look at errors.' },
  authentication_required: { status: 401, title: 'Who are you?', advice: 'Send a key.' },
  insufficient_scope: { status: 403, title: 'Too little scope', advice: 'Ask for more.' },
  permission_required: { status: 403, title: 'Reviewers only', advice: 'Ask a reviewer.' },
  not_found: { status: 404, title: 'Not found', advice: 'Look at the address.' },
  unknown_shelf: { status: 404, title: 'No such shelf', advice: 'List the shelves.' },
  shelf_taken: { status: 409, title: 'Taken', advice: 'Take another.' },
  unsupported_media_type: { status: 415, title: 'Not JSON', advice: 'Send JSON.' },
  upgrade_required: { status: 426, title: 'A socket', advice: 'Open a WebSocket.' },
  too_many_requests: { status: 429, title: 'Too many', advice: 'Wait.' },
  workspace_forbidden: { status: 403, title: 'Not yours', advice: 'Choose another.', anywhere: true },
  internal_error: { status: 500, title: 'Broken', advice: 'Tell the operator.' },
};

const place = Joi.object({ place_key: Joi.string().required(), name: Joi.string().required() }).meta({ name: 'Place' });

export const shelf = Joi.object({
  id: Joi.string().uuid().required().description('Its id'),
  kind: Joi.string().valid('wood', 'steel').allow(null).required(),
  place: place.allow(null).required().description('Where it stands'),
  places: Joi.array().items(place),
}).meta({ name: 'Shelf' });

const list = Joi.object({ data: Joi.array().items(shelf).required(), total: Joi.number().integer().min(0).required(), next_cursor: Joi.string().allow(null).required() });
const shelfId = Joi.object({ shelf_id: Joi.string().required().description('The shelf') });
const aShelf = { id: '0190a6e2-7b1c-7000-8000-000000000001', kind: 'wood', place: null };

export const query = Joi.object({
  kind: Joi.array().items(Joi.string().valid('wood', 'steel')).single().description('What it is made of').example('wood'),
  limit: Joi.number().integer().min(1).max(100).default(25).description('How many'),
  cursor: Joi.string(),
  since: Joi.alternatives().try(Joi.string().isoDate(), Joi.number()),
});

const event = Joi.object({ type: Joi.string().valid('shelf.moved').required(), shelf: shelf.required() }).description('A shelf was moved').meta({ name: 'ShelfMoved' });

/** A server with one route of each kind, as a plugin would register them. */
export async function shelfServer(): Promise<Server> {
  registerProblems(problems);
  const server = Hapi.server({ debug: false, routes: { payload: { allow: 'application/json' }, response: { sample: 0 } } });
  server.validator(Joi);
  server.auth.scheme('caller', () => ({
    authenticate: (request, h) => {
      const key = request.headers['x-api-key'];
      if (!key) throw problem('authentication_required');
      return h.authenticated({ credentials: { scope: ['shelves:write'] } });
    },
  }));
  server.auth.strategy('caller', 'caller');
  server.auth.default({ strategy: 'caller', mode: 'try' });
  server.ext('onPreResponse', (request, h) => {
    const { response } = request;
    if (!('isBoom' in response)) return h.continue;
    const code = (response.data as { code?: string } | null)?.code ?? (response.output.statusCode === 400 ? 'invalid_request' : 'internal_error');
    const { status, title } = problems[code]!;
    return h.response({ type: `http://localhost/problems/${code}`, code, title, status, detail: response.message, instance: request.path, request_id: 'r' }).code(status).type('application/problem+json');
  });
  await server.register({ name: 'shelves', register: addRoutes });
  server.route({ method: 'GET', path: '/', handler: () => 'welcome', options: { plugins: { civic: { internal: true } } } });
  server.route({ method: '*', path: '/{any*}', handler: () => { throw problem('not_found'); }, options: { plugins: { civic: { internal: true } } } });
  return server;
}

function addRoutes(server: Server): void {
  const civic = (declaration: RouteDeclaration): { civic: RouteDeclaration } => ({ civic: declaration });
  const stream = { protocol: 'sse' as const, send: { 'shelf.moved': event } };
  server.route([
    { method: 'GET', path: '/api/shelves', handler: () => ({ data: [aShelf], total: 1, next_cursor: null }), options: { description: 'Shelves', notes: 'Every shelf there is.', validate: { query }, response: { schema: list }, plugins: civic({ conditional: true, headers: ['Last-Modified'] }) } },
    { method: 'GET', path: '/api/shelves/{shelf_id}', handler: getShelf, options: { id: 'getShelf', description: 'One shelf', validate: { params: shelfId }, response: { schema: shelf }, plugins: civic({ problems: ['unknown_shelf'] }) } },
    { method: 'POST', path: '/api/shelves', handler: (request, h) => h.response(request.payload as object).code(201), options: { description: 'A new shelf', auth: { mode: 'required', access: { scope: ['shelves:write'] } }, validate: { payload: shelf }, response: { status: { 201: shelf } } } },
    { method: 'DELETE', path: '/api/shelves/{shelf_id}', handler: (_request, h) => h.response().code(204), options: { description: 'Takes a shelf away', auth: { mode: 'required' }, plugins: civic({ role: 'reviewer' }) } },
    { method: 'GET', path: '/api/shelves/events', handler: () => 'data: {}\n\n', options: { description: 'Moves as they happen', plugins: civic({ rate: 'stream', stream }) } },
    { method: 'GET', path: '/api/shelves/{shelf_id}/socket', handler: () => 'no', options: { description: 'Moves of one shelf', auth: { mode: 'required' }, validate: { params: shelfId, query: Joi.object({ last_event_id: Joi.string() }) }, plugins: civic({ stream: { ...stream, protocol: 'websocket', receive: { ping: Joi.object({ type: Joi.valid('ping').required() }) }, subprotocol: 'shelf.v1' } }) } },
    { method: 'GET', path: '/shelves.txt', handler: () => 'text', options: { description: 'Shelves as text', auth: false, plugins: civic({ produces: ['text/plain'], rate: 'none' }) } },
  ]);
}

const odd: Record<string, () => unknown> = {
  unknown: () => { throw problem('unknown_shelf'); },
  undeclared: () => { throw problem('shelf_taken'); },
  wrong: () => ({ ...aShelf, kind: 'glass' }),
};

function getShelf(request: Hapi.Request): any {
  return odd[String(request.params.shelf_id)]?.() ?? aShelf;
}
