import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { createHash } from 'node:crypto';
import { listResponse, pageOf } from '../cursor.ts';
import { testServer } from './fixture.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const ROWS = Array.from({ length: 7 }, (_, index) => index + 1);

function lists() {
  const made = testServer({ publicUrl: 'https://civic.example/kit' });
  const query = Joi.object({
    limit: Joi.number().integer().min(1).max(100).default(25),
    cursor: Joi.string(),
    sort: Joi.string().valid('up', 'down').default('up'),
    issue_area: Joi.array().items(Joi.string()).single(),
    since: Joi.date(),
  });
  made.server.route({
    method: 'GET',
    path: '/api/{name}',
    options: { validate: { query, params: Joi.object({ name: Joi.string() }) } },
    handler: (request, h) => {
      const page = pageOf<{ sort: string; issue_area?: string[] }>(request, ['integer']);
      const sorted = page.query.sort === 'up' ? ROWS : ROWS.toReversed();
      const from = page.after ? sorted.indexOf(Number(page.after[0])) + 1 : 0;
      const data = sorted.slice(from, from + page.limit);
      const hasMore = from + page.limit < sorted.length;
      return listResponse(request, h, page, { data, total: 7, next: hasMore ? [data.at(-1)!] : null, extra: { seen: page.query } });
    },
  });
  const get = async (url: string) => {
    const res = await made.server.inject(url);
    return { status: res.statusCode, link: res.headers['link'] as string | undefined, body: JSON.parse(res.payload) };
  };
  return get;
}

describe('A list', () => {
  it('has its rows, the total and the way on, in body and Link', async () => {
    const first = await lists()('/api/things?limit=3&sort=down');
    expect(first.body).to.include({ data: [7, 6, 5], total: 7 });
    expect(first.link).to.equal(`<https://civic.example/kit/api/things?limit=3&cursor=${first.body.next_cursor}>; rel="next"`);
  });

  it('rejects a forged position of another length or type', async () => {
    const get = lists();
    const forged = (after: unknown) => {
      const text = JSON.stringify([{ sort: 'up' }, after]);
      return Buffer.from(text).toString('base64url') + createHash('sha256').update(`/api/things\n${text}`).digest('base64url').slice(0, 8);
    };
    expect((await get(`/api/things?limit=3&cursor=${forged([3])}`)).body.data).to.equal([4, 5, 6]);
    for (const after of [[], [1, 2], ['x'], [null], [1.5], [{}], [[1]], [1e300], {}, null, 'x']) {
      const { status, body } = await get(`/api/things?cursor=${forged(after)}`);
      expect([status, body.code], JSON.stringify(after)).to.equal([400, 'invalid_cursor']);
    }
  });

  it('accepts every cursor that it returned, however long its filters are', async () => {
    const get = lists();
    const first = await get(`/api/things?limit=3&issue_area=${'a'.repeat(5000)}`);
    expect((await get(`/api/things?limit=3&cursor=${first.body.next_cursor}`)).body.data).to.equal([4, 5, 6]);
  });

  it('is read to its end by cursors alone, and has no Link there', async () => {
    const get = lists();
    const seen: number[] = [];
    let answer = await get('/api/things?limit=3&sort=down&issue_area=b&issue_area=a');
    for (;;) {
      seen.push(...answer.body.data);
      expect(answer.body.seen).to.equal({ sort: 'down', issue_area: ['b', 'a'] });
      if (answer.body.next_cursor === null) break;
      answer = await get(`/api/things?limit=3&cursor=${answer.body.next_cursor}`);
    }
    expect(seen).to.equal([7, 6, 5, 4, 3, 2, 1]);
    expect(answer.link).to.be.undefined();
  });

  it('takes equal parameters beside the cursor, in any order, and another limit', async () => {
    const get = lists();
    const { body } = await get('/api/things?limit=2&sort=down&issue_area=b&issue_area=a&since=2026-01-01');
    const next = await get(`/api/things?limit=4&sort=down&issue_area=a&issue_area=b&since=2026-01-01T00:00:00Z&cursor=${body.next_cursor}`);
    expect([next.status, next.body.data]).to.equal([200, [5, 4, 3, 2]]);
  });

  it('refuses other parameters beside the cursor and names them', async () => {
    const get = lists();
    const { body } = await get('/api/things?limit=2&sort=down');
    const other = await get(`/api/things?sort=up&issue_area=a&cursor=${body.next_cursor}`);
    expect([other.status, other.body.code]).to.equal([400, 'invalid_cursor']);
    expect(other.body.errors.map((error: { parameter: string }) => error.parameter)).to.equal(['sort', 'issue_area']);
  });

  it('refuses a cursor that was changed, cut, made up, or made for another list', async () => {
    const get = lists();
    const cursor: string = (await get('/api/things?limit=2')).body.next_cursor;
    const flipped = [...cursor].map((letter, index) => cursor.slice(0, index) + (letter === 'A' ? 'B' : 'A') + cursor.slice(index + 1));
    for (const bad of [...flipped, cursor.slice(1), cursor.slice(0, -1), `${cursor}A`, `${cursor}=`, 'x', 'x'.repeat(5000)]) {
      const { status, body } = await get(`/api/things?cursor=${bad}`);
      expect([status, body.code, body.errors[0].parameter]).to.equal([400, 'invalid_cursor', 'cursor']);
    }
    expect((await get(`/api/others?cursor=${cursor}`)).status).to.equal(400);
    expect((await get(`/api/things?cursor=${cursor}`)).status).to.equal(200);
  });
});
