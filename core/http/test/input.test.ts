import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { send, testServer } from './fixture.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const { server } = testServer();
server.route({
  method: 'GET',
  path: '/api/things/{id}',
  options: {
    validate: {
      params: Joi.object({ id: Joi.string().guid().required() }),
      query: Joi.object({ limit: Joi.number().integer().min(1).max(100).default(25), sort: Joi.string().valid('name', 'recent'), issue_area: Joi.array().items(Joi.string()).single(), query: Joi.string().trim().empty(''), confidence: Joi.number(), facets: Joi.boolean() }),
    },
  },
  handler: (request) => request.query,
});
const body = Joi.object({ name: Joi.string().required(), size: Joi.number(), place: Joi.object({ colour: Joi.string() }), tags: Joi.array().items(Joi.string()) });
server.route({ method: ['POST', 'PATCH'], path: '/api/things', options: { validate: { query: Joi.object({}), payload: body } }, handler: (request) => request.payload as object });
server.route({ method: ['POST', 'DELETE'], path: '/api/things/act', options: { validate: { query: Joi.object({}) } }, handler: (_request, h) => h.response().code(204) });

server.route({ method: 'GET', path: '/api/feed', options: { validate: { query: Joi.object({}).unknown() } }, handler: () => 'ok' });

const THING = '/api/things/0190a6d2-3f3a-7b7c-8a55-000000000001';
const JSON_TYPE = { 'content-type': 'application/json' };

describe('A query', () => {
  before(() => server.start());
  after(() => server.stop());

  it('is converted and filled with defaults', async () => {
    expect((await send(server, 'GET', `${THING}?limit=5&issue_area=a`)).json).to.equal({ limit: 5, issue_area: ['a'] });
    expect((await send(server, 'GET', `${THING}?issue_area=a&issue_area=b`)).json).to.equal({ limit: 25, issue_area: ['a', 'b'] });
  });

  it('with an unknown parameter is refused with the nearest known name', async () => {
    const answer = await send(server, 'GET', `${THING}?limt=5`);
    expect(answer.status).to.equal(400);
    expect(answer.json).to.include({ code: 'invalid_request', detail: 'limt is not known here; did you mean "limit"?' });
    expect(answer.json.errors).to.equal([{ parameter: 'limt', detail: 'is not known here; did you mean "limit"?' }]);
  });

  it('with malformed percent encoding is refused by the name of the parameter', async () => {
    for (const value of ['%zz', 'a%', '%4', '%ff', '%ed%a0%80']) {
      const { status, json } = await send(server, 'GET', `${THING}?limit=5&query=${value}`);
      expect([status, json.code, json.errors], value).to.equal([400, 'invalid_request', [{ parameter: 'query', detail: 'is not valid percent-encoded UTF-8' }]]);
    }
    expect((await send(server, 'GET', `${THING}?%zz=1`)).json.errors[0].parameter).to.equal('%zz');
    expect((await send(server, 'GET', '/api/feed?campaign=50%off')).status, 'where unknown parameters are ignored').to.equal(200);
    expect((await send(server, 'GET', `${THING}?query=100%25+%C3%BC`)).json.query).to.equal('100% ü');
  });

  it('with an unknown parameter that resembles none lists the known ones', async () => {
    const answer = await send(server, 'GET', `${THING}?utm_source=x`);
    expect(answer.json.errors[0].detail).to.equal('is not known here; known are limit, sort, issue_area, query, confidence, facets');
  });

  it('with many unknown parameters describes its schema once and reports the first of them', async () => {
    const { server: described } = testServer();
    const query = Joi.object({ limit: Joi.number(), sort: Joi.string() });
    described.route({ method: 'GET', path: '/api/described', options: { validate: { query } }, handler: () => 'ok' });
    let count = 0;
    const schema = described.match('get', '/api/described')!.settings.validate!.query as Joi.ObjectSchema;
    const describe = schema.describe.bind(schema);
    schema.describe = () => { count += 1; return describe(); };
    const address = `/api/described?${Array.from({ length: 300 }, (_, at) => `limi${at}=1`).join('&')}`;
    for (const _ of [1, 2]) {
      const { statusCode, payload } = await described.inject(address);
      expect(statusCode).to.equal(400);
      const { errors, detail } = JSON.parse(payload) as { errors: { detail: string }[]; detail: string };
      expect(errors).to.have.length(20);
      expect(errors[0]!.detail).to.contain('did you mean "limit"?');
      expect(detail).to.contain('(and 299 more)');
    }
    expect(count).to.equal(1);
  });

  it('with a great many values of one parameter is refused before the route', async () => {
    const values = (count: number) => Array.from({ length: count }, () => 'issue_area=a').join('&');
    expect((await send(server, 'GET', `${THING}?${values(250)}`)).status).to.equal(200);
    for (const path of [THING, '/signals']) {
      const answer = await send(server, 'GET', `${path}?${values(251)}`);
      expect(answer.status).to.equal(400);
      expect(answer.json.errors).to.equal([{ parameter: 'issue_area', detail: 'is given 251 times; at most 250 values are allowed' }]);
    }
  });

  it('with a single-valued parameter given twice is refused', async () => {
    const answer = await send(server, 'GET', `${THING}?sort=name&sort=recent`);
    expect(answer.status).to.equal(400);
    expect(answer.json.errors).to.equal([{ parameter: 'sort', detail: 'is given more than once, but takes one value' }]);
  });

  it('with a character that no database keeps is refused', async () => {
    for (const value of ['a%00b', '%00']) {
      const answer = await send(server, 'GET', `${THING}?issue_area=${value}`);
      expect(answer.status).to.equal(400);
      expect(answer.json.errors).to.equal([{ parameter: 'issue_area', detail: 'holds the character U+0000 or half of a surrogate pair, which cannot be stored' }]);
    }
  });

  it('has one spelling of each number and boolean, and no empty values', async () => {
    const wrong: Record<string, string[]> = {
      'limit must be a whole number in plain digits, such as 25': ['limit=1e1', 'limit=%2B5', 'limit=05', 'limit=%205', 'limit=5%20', 'limit=5.0'],
      'limit must be': ['limit=+5', 'limit=0x5', 'limit=%09', 'limit=-0', 'limit=%D9%A5', 'limit='],
      'confidence must be a number in plain digits, such as 0.5': ['confidence=.5', 'confidence=5e-1', 'confidence=1.', 'confidence=00.5'],
      'facets must be true or false': ['facets=TRUE', 'facets=True', 'facets=%20true'],
      'facets must be a boolean': ['facets=1', 'facets=yes', 'facets='],
      'query is not allowed to be empty': ['query=', 'query=%20', 'query'],
      'sort must be one of [name, recent]': ['sort=', 'sort=%20name', 'sort=name,', 'sort=NAME'],
    };
    for (const [detail, searches] of Object.entries(wrong)) {
      for (const search of searches) {
        const { status, json } = await send(server, 'GET', `${THING}?${search}`);
        expect([status, json.errors?.[0].parameter], search).to.equal([400, search.split('=')[0]]);
        expect(json.detail, search).to.contain(detail);
      }
    }
    for (const search of ['issue_area=', 'issue_area=a&issue_area=', 'facets=true&facets=true', 'limit=5&limit=5']) expect((await send(server, 'GET', `${THING}?${search}`)).status, search).to.equal(400);
    expect((await send(server, 'GET', `${THING}?limit=10&confidence=-0.5&facets=true&query=%20a%20`)).json).to.equal({ limit: 10, confidence: -0.5, facets: true, query: 'a' });
  });

  it('near a value of a closed list gets an error that names the value', async () => {
    const detailOf = async (value: string) => (await send(server, 'GET', `${THING}?sort=${value}`)).json.errors[0].detail;
    for (const value of ['nmae', 'NAME', 'names']) expect(await detailOf(value)).to.equal('must be one of [name, recent]; did you mean "name"?');
    for (const value of ['size', '', 'n'.repeat(500)]) expect(await detailOf(value), value).to.equal('must be one of [name, recent]');
  });

  it('with several faults reports all of them at once', async () => {
    const answer = await send(server, 'GET', `${THING}?limit=101&sort=size&x=1`);
    expect(answer.json.errors.map((error: { parameter: string }) => error.parameter)).to.equal(['limit', 'sort', 'x']);
    expect(answer.json.errors[1].detail).to.equal('must be one of [name, recent]');
    expect(answer.json.detail).to.equal('limit must be less than or equal to 100 (and 2 more)');
  });
});

describe('A path', () => {
  before(() => server.start());
  after(() => server.stop());

  it('with a malformed id names nothing', async () => {
    const answer = await send(server, 'GET', '/api/things/0190a6d2');
    expect([answer.status, answer.json.code]).to.equal([404, 'not_found']);
    expect(answer.json.errors).to.be.undefined();
  });
});

describe('A body', () => {
  before(() => server.start());
  after(() => server.stop());

  const fault = async (text: string) => (await send(server, 'POST', '/api/things', { headers: JSON_TYPE, body: text })).json;

  it('is taken as application/json with any charset', async () => {
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="latin1"']) {
      expect((await send(server, 'POST', '/api/things', { headers: { 'content-type': type }, body: '{"name":"x"}' })).status).to.equal(200);
    }
  });

  it('of another type, of none, or of a malformed one is 415 and says what is taken', async () => {
    for (const headers of [{ 'content-type': 'text/plain' }, { 'content-type': 'application/jsonx' }, { 'content-type': 'application/x-www-form-urlencoded' }, { 'content-type': 'nonsense' }, {}] as Record<string, string>[]) {
      const post = await send(server, 'POST', '/api/things', { headers, body: '{"name":"x"}' });
      expect([post.status, post.json.code, post.headers['accept-post'], post.headers['accept-patch']]).to.equal([415, 'unsupported_media_type', 'application/json', undefined]);
      const patch = await send(server, 'PATCH', '/api/things', { headers, body: '{"name":"x"}' });
      expect([patch.status, patch.headers['accept-patch'], patch.headers['accept-post']]).to.equal([415, 'application/json', undefined]);
    }
  });

  it('need not be there where none is wanted', async () => {
    expect((await send(server, 'POST', '/api/things/act')).status).to.equal(204);
    expect((await send(server, 'DELETE', '/api/things/act')).status).to.equal(204);
  });

  it('that is missing where one is required is reported', async () => {
    const answer = await send(server, 'POST', '/api/things');
    expect([answer.status, answer.json.detail]).to.equal([400, 'The body is missing']);
  });

  it('that is not JSON reports the position of the syntax error', async () => {
    expect(await fault('{"name": }')).to.include({ code: 'malformed_body', status: 400 });
    expect((await fault('{"name": }')).detail).to.match(/Unexpected token/);
    expect((await fault('{"__proto__": {}}')).code).to.equal('malformed_body');
  });

  it('that is nested a hundred thousand levels deep is refused on every route', async () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    for (const text of [nested(100_000), `{"name":"a","tags":${nested(100_000)}}`, `{"name":"a","x":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`]) {
      for (const path of ['/api/things', '/api/things/act']) {
        const answer = await send(server, 'POST', path, { headers: JSON_TYPE, body: text });
        expect(answer.status, path).to.equal(400);
        expect(answer.json).to.include({ code: 'malformed_body', detail: 'The body is nested more than 100 levels deep.' });
      }
    }
    const allowed = await send(server, 'POST', '/api/things/act', { headers: JSON_TYPE, body: nested(100) });
    expect(allowed.status).to.equal(204);
    expect((await send(server, 'POST', '/api/things/act', { headers: JSON_TYPE, body: nested(101) })).status).to.equal(400);
  });

  it('with too many members and items is refused on every route, before it is validated', async () => {
    const members = (total: number) => JSON.stringify(Object.fromEntries(Array.from({ length: total }, (_, i) => [`k${i}`, 1])));
    const items = (total: number) => JSON.stringify({ tags: [Array(total - 2).fill(1)] });
    for (const text of [members(80_000), members(20_001), items(20_001)]) {
      for (const path of ['/api/things', '/api/things/act']) {
        const answer = await send(server, 'POST', path, { headers: JSON_TYPE, body: text });
        expect(answer.status, path).to.equal(400);
        expect(answer.json).to.include({ code: 'malformed_body', detail: 'The body has more than 20000 members and items in total.' });
      }
    }
    for (const text of [members(20_000), items(20_000)]) expect((await send(server, 'POST', '/api/things/act', { headers: JSON_TYPE, body: text })).status).to.equal(204);
  });

  it('with faults reports the pointer of each', async () => {
    const { errors, detail } = await fault('{"size":"5","place":{"color":"red"},"tags":["a",1]}');
    expect(errors).to.equal([
      { pointer: '/name', detail: 'is required' },
      { pointer: '/size', detail: 'must be a number' },
      { pointer: '/place/color', detail: 'is not known here; did you mean "colour"?' },
      { pointer: '/tags/1', detail: 'must be a string' },
    ]);
    expect(detail).to.equal('/name is required (and 3 more)');
  });

  it('with a character that no database stores reports its pointer', async () => {
    for (const [text, pointer] of [['{"name":"a\\u0000"}', '/name'], ['{"name":"a","tags":["b","\\ud800"]}', '/tags/1']] as const) {
      const answer = await send(server, 'POST', '/api/things', { headers: JSON_TYPE, body: text });
      expect(answer.status).to.equal(400);
      expect(answer.json.errors).to.equal([{ pointer, detail: 'holds the character U+0000 or half of a surrogate pair, which cannot be stored' }]);
    }
    expect((await send(server, 'POST', '/api/things', { headers: JSON_TYPE, body: '{"name":"\\ud83d\\ude00 \\\\u0000"}' })).json).to.equal({ name: '😀 \\u0000' });
  });

  it('of up to 1 MB passes, above it is 413 with or without a length', async () => {
    const fits = JSON.stringify({ name: 'x'.repeat(1024 * 1024 - 11) });
    expect((await send(server, 'POST', '/api/things', { headers: JSON_TYPE, body: fits })).status).to.equal(200);
    for (const headers of [JSON_TYPE, { ...JSON_TYPE, 'transfer-encoding': 'chunked' }]) {
      const answer = await send(server, 'POST', '/api/things', { headers, body: `${fits} ` });
      expect([answer.status, answer.json.code, answer.json.detail]).to.equal([413, 'body_too_large', 'The body may have up to 1 MB.']);
    }
  });
});

describe('An answer', () => {
  it('that does not fit its schema fails where answers are checked, and passes elsewhere', async () => {
    for (const [validateResponses, status] of [[true, 500], [false, 200]] as const) {
      const made = testServer({ validateResponses });
      made.server.route({ method: 'GET', path: '/api/x', options: { response: { status: { 200: Joi.object({ a: Joi.number().required() }) } } }, handler: () => ({ a: '1' }) });
      expect((await made.server.inject('/api/x')).statusCode).to.equal(status);
      expect(made.lines.some((line) => line['level'] === 'error' && /does not fit its schema/.test(line['err'].message))).to.equal(validateResponses);
    }
  });
});
