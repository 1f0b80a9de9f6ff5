import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Server } from '@hapi/hapi';
import { openApi, type OpenApi, type Response } from '../openapi.ts';
import { problems, shelfServer } from './fixture.ts';

export const lab = Lab.script();
export const ownProcess = 'it registers problem codes of core with other texts';
const { describe, it, before } = lab;

describe('OpenAPI', () => {
  let server: Server;
  let document: OpenApi;
  const options = { info: { title: 'Shelves', version: '1.0.0' }, publicUrl: 'https://shelves.example/sub', problems, isCounted: true, plugins: { shelves: 'Where things stand' } };

  before(async () => {
    server = await shelfServer();
    document = openApi(server, options);
  });

  function responses(path: string, method: 'get' | 'post' | 'delete' = 'get'): Record<string, Response> {
    const all = document.paths[path]![method]!.responses;
    return Object.fromEntries(Object.entries(all).map(([status, answer]) => [status, '$ref' in answer ? (document.components.responses![answer.$ref.split('/').pop()!] as unknown as Response) : answer]));
  }

  it('says the same of the same routes, byte for byte, sorted by path', async () => {
    expect(JSON.stringify(openApi(await shelfServer(), options))).to.equal(JSON.stringify(document));
    expect(Object.keys(document.paths)).to.equal(Object.keys(document.paths).sort());
  });

  it('leaves out internal routes and the catch-all', () => {
    expect(document.paths).to.not.include(['/', '/{any}']);
    expect(Object.keys(document.paths)).to.have.length(5);
  });

  it('groups operations by the plugin that owns them', () => {
    expect(document.tags).to.equal([{ name: 'shelves', description: 'Where things stand' }]);
    expect(document.paths['/api/shelves']!.get!.tags).to.equal(['shelves']);
  });

  it('names operations after method and path, or as the route says', () => {
    expect(document.paths['/api/shelves']!.get!.operationId).to.equal('getShelves');
    expect(document.paths['/api/shelves/{shelf_id}']!.get!.operationId).to.equal('getShelf');
    expect(document.paths['/api/shelves/{shelf_id}']!.delete!.operationId).to.equal('deleteShelvesShelfId');
  });

  it('refuses two operations of one name', async () => {
    const twin = await shelfServer();
    twin.route({ method: 'GET', path: '/api/shelf', handler: () => null, options: { id: 'getShelves' } });
    expect(() => openApi(twin, options)).to.throw(/GET \/api\/shelf and GET \/api\/shelves have the same operation id "getShelves"/);
  });

  it('describes query parameters, repeatable ones as a list', () => {
    const [kind, limit, cursor, since] = document.paths['/api/shelves']!.get!.parameters!;
    expect(kind).to.equal({ name: 'kind', in: 'query', required: false, description: 'What it is made of', schema: { type: 'array', items: { type: 'string', enum: ['wood', 'steel'] } }, example: 'wood', style: 'form', explode: true });
    expect(limit!.schema).to.equal({ type: 'integer', default: 25, minimum: 1, maximum: 100 });
    expect(cursor!.required).to.be.false();
    expect(since!.schema).to.equal({ anyOf: [{ type: 'string', format: 'date-time' }, { type: 'number' }] });
  });

  it('describes path parameters with and without a schema', () => {
    expect(document.paths['/api/shelves/{shelf_id}']!.get!.parameters).to.equal([{ name: 'shelf_id', in: 'path', required: true, description: 'The shelf', schema: { type: 'string', minLength: 1 } }]);
    expect(document.paths['/api/shelves/{shelf_id}']!.delete!.parameters).to.equal([{ name: 'shelf_id', in: 'path', required: true, schema: { type: 'string' } }]);
  });

  it('says who may call', () => {
    expect(document.paths['/api/shelves']!.get!.security).to.equal([{}, { api_key: [] }, { oauth: [] }]);
    expect(document.paths['/api/shelves']!.post!.security).to.equal([{ api_key: [] }, { oauth: [] }]);
    expect(document.paths['/api/shelves']!.post!['x-civic']).to.include({ scopes: ['shelves:write'] });
    expect(document.paths['/shelves.txt']!.get!.security).to.equal([]);
    expect(document.paths['/api/shelves/{shelf_id}']!.delete!['x-civic']).to.equal({ role: 'reviewer' });
  });

  it('lists each status with its codes, derived from the settings of the route', () => {
    const codes = Object.fromEntries(Object.entries(responses('/api/shelves/{shelf_id}')).map(([status, answer]) => [status, answer['x-problem-codes'] ?? []]));
    expect(codes).to.equal({ 200: [], 400: ['invalid_request'], 403: ['insufficient_scope', 'workspace_forbidden'], 404: ['not_found', 'unknown_shelf'], 429: ['too_many_requests'], 500: ['internal_error'] });
    expect(Object.keys(responses('/api/shelves', 'post'))).to.equal(['201', '400', '401', '403', '415', '429', '500']);
    expect(responses('/api/shelves', 'post')[403]!['x-problem-codes']).to.equal(['insufficient_scope', 'workspace_forbidden']);
    expect(responses('/api/shelves/{shelf_id}', 'delete')[403]!['x-problem-codes']).to.equal(['insufficient_scope', 'permission_required', 'workspace_forbidden']);
  });

  it('does not count a route that is exempt', () => {
    expect(Object.keys(responses('/shelves.txt'))).to.equal(['200', '403', '500']);
    expect(responses('/shelves.txt')[200]!.headers).to.not.include('RateLimit-Limit');
  });

  it('lists a limit that holds anywhere, but not where nothing is counted', async () => {
    const { paths } = openApi(await shelfServer(), { ...options, problems: { ...problems, shelf_limit: { status: 429, title: 'Slower', advice: 'Wait.', anywhere: true } } });
    expect(paths['/api/shelves']!['get']!.responses['429']).to.exist();
    expect(Object.keys(paths['/shelves.txt']!['get']!.responses)).to.equal(['200', '403', '500']);
  });

  it('has no headers of rate limits where no plugin counts requests', async () => {
    const free = openApi(await shelfServer(), { ...options, isCounted: false });
    expect(JSON.stringify(free.paths)).to.not.include(['RateLimit', '429']);
  });

  it('rejects a route with a problem that no plugin registers', async () => {
    const wrong = await shelfServer();
    wrong.route({ method: 'GET', path: '/api/wrong', handler: () => null, options: { plugins: { civic: { problems: ['no_such_code'] } } } });
    expect(() => openApi(wrong, options)).to.throw('GET /api/wrong declares the problem "no_such_code", which no plugin registers');
  });

  it('lists the headers of each answer', () => {
    const list = responses('/api/shelves');
    expect(Object.keys(list[200]!.headers!)).to.equal(['Cache-Control', 'Content-Location', 'ETag', 'Last-Modified', 'Link', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Server-Timing', 'Traceparent', 'Tracestate', 'Vary', 'X-Request-ID']);
    expect(list[304]!.headers).to.include(['ETag', 'Vary', 'Last-Modified']);
    expect(list[429]!.headers).to.not.include('Last-Modified');
    expect(list[304]!.content).to.be.undefined();
    expect(list[429]!.headers).to.include(['Retry-After', 'X-RateLimit-Reset']);
    expect(responses('/api/shelves', 'post')[201]!.headers).to.include('Location');
    expect(responses('/api/shelves', 'post')[401]!.headers).to.include('WWW-Authenticate');
    expect(responses('/api/shelves', 'post')[415]!.headers).to.include('Accept-Post');
  });

  it('names the media types of bodies, streams and sockets', () => {
    expect(Object.keys(document.paths['/api/shelves']!.post!.requestBody!.content)).to.equal(['application/json']);
    expect(Object.keys(responses('/api/shelves/events')[200]!.content!)).to.equal(['text/event-stream']);
    expect(Object.keys(responses('/shelves.txt')[200]!.content!)).to.equal(['text/plain']);
    expect(Object.keys(responses('/api/shelves/{shelf_id}/socket'))).to.equal(['101', '400', '401', '403', '404', '426', '429', '500']);
    expect(responses('/api/shelves/{shelf_id}', 'delete')[204]!.content).to.be.undefined();
  });

  it('refers only to what it holds', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map((match) => match[1]!.split('/'));
    expect(refs.length).to.be.above(20);
    expect(refs.filter(([kind, name]) => !document.components[kind!]?.[name!])).to.equal([]);
  });

  it('says each shared schema and each way to fail once', () => {
    expect(Object.keys(document.components.schemas!)).to.equal(['InputError', 'Place', 'Problem', 'Shelf']);
    expect(document.paths['/api/shelves']!.get!.responses[500]).to.equal({ $ref: '#/components/responses/500.counted.internal_error' });
  });
});
