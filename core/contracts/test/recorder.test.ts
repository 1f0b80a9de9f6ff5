import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { Server } from '@hapi/hapi';
import Joi from 'joi';
import { problem } from '../../problems.ts';
import { recordResponses } from '../recorder.ts';
import { problems, shelfServer } from './fixture.ts';

export const lab = Lab.script();
export const ownProcess = 'it registers problem codes of core with other texts';
const { describe, it, beforeEach } = lab;

describe('The recorder', () => {
  let server: Server;
  let faults: string[];

  beforeEach(async () => {
    faults = [];
    server = await shelfServer();
    recordResponses(server, { problems, isCounted: true, onFault: (fault) => faults.push(fault) });
  });

  it('is content with answers that are declared', async () => {
    await server.inject('/api/shelves?kind=wood&limit=5');
    await server.inject({ method: 'HEAD', url: '/api/shelves' });
    await server.inject('/api/shelves/unknown');
    await server.inject('/api/shelves?limit=x');
    await server.inject({ method: 'DELETE', url: '/api/shelves/1', headers: { 'x-api-key': 'k' } });
    await server.inject({ method: 'POST', url: '/api/shelves', payload: {} });
    await server.inject('/api/shelves/events');
    expect(faults).to.equal([]);
  });

  it('ignores pages and paths that no operation owns', async () => {
    await server.inject('/');
    await server.inject('/nowhere');
    expect(faults).to.equal([]);
  });

  it('reports a 429 without Retry-After and the other headers', async () => {
    server.route({ method: 'GET', path: '/api/boxes', handler: () => { throw problem('too_many_requests'); }, options: { plugins: { civic: { problems: ['too_many_requests'] } } } });
    await server.inject('/api/boxes');
    expect(faults).to.equal(['GET /api/boxes answered 429: it lacks retry-after, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset']);
  });

  it('reports a status the operation does not declare', async () => {
    await server.inject('/api/shelves/undeclared');
    expect(faults).to.equal(['GET /api/shelves/undeclared answered 409: the operation declares only 200, 400, 403, 404, 429, 500']);
  });

  it('reports a code the operation does not declare under that status', async () => {
    server.route({ method: 'GET', path: '/api/boxes', handler: () => { throw new Error('boom'); }, options: { plugins: { civic: {} } } });
    server.ext('onPreResponse', (request, h) => {
      if (request.path === '/api/boxes') (request.response as { source: { code: string } }).source.code = 'surprise';
      return h.continue;
    });
    await server.inject('/api/boxes');
    expect(faults).to.equal(['GET /api/boxes answered 500: the code "surprise" is not declared (internal_error)']);
  });

  it('reports a body that does not fit its schema', async () => {
    await server.inject('/api/shelves/wrong');
    expect(faults).to.equal(['GET /api/shelves/wrong answered 200: the body does not fit its schema: "kind" must be one of [wood, steel, null]']);
  });

  it('sees the body of an answer that was sent past hapi, too', async () => {
    server.route({
      method: 'GET', path: '/api/boxes', options: { plugins: { civic: {} }, response: { schema: Joi.object({ width: Joi.number() }) } },
      handler({ raw: { res } }, h) {
        res.setHeader('content-type', 'application/json');
        res.end(Buffer.from('{"width":"wide"}'));
        return h.abandon;
      },
    });
    await server.inject('/api/boxes');
    expect(faults).to.equal(['GET /api/boxes answered 200: the body does not fit its schema: "width" must be a number']);
  });

  it('reports an error under /api that is no problem', async () => {
    server.route({ method: 'GET', path: '/api/boxes', handler: (_request, h) => h.response('no').code(500), options: { plugins: { civic: {} } } });
    await server.inject('/api/boxes');
    expect(faults).to.equal(['GET /api/boxes answered 500: the body is text/html, not application/problem+json']);
  });
});
