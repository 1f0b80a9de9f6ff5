import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenApi, Operation, Parameter, Response } from '../../core/contracts/openapi.ts';
import { projectRoot } from '../../core/root.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const;

describe('The OpenAPI document of the kit', () => {
  const document = JSON.parse(readFileSync(join(projectRoot, 'contracts/openapi.json'), 'utf8')) as OpenApi;
  const operations = Object.entries(document.paths).flatMap(([path, item]) => METHODS.filter((method) => item[method]).map((method) => ({ name: `${method.toUpperCase()} ${path}`, operation: item[method]! })));
  const failing = (isWrong: (operation: Operation) => boolean): string[] => operations.filter(({ operation }) => isWrong(operation)).map(({ name }) => name);
  const responsesOf = ({ responses }: Operation): [string, Response][] => Object.entries(responses).map(([status, response]) => [status, '$ref' in response ? document.components['responses']![response.$ref.split('/').at(-1)!] as unknown as Response : response]);
  const find = (name: string): Operation => operations.find((one) => one.name === name)!.operation;

  it('has a summary and a description for every operation', () => {
    expect(failing(({ summary, description }) => !summary || !description)).to.equal([]);
  });

  it('has no pattern that needs the Unicode properties of ECMAScript', () => {
    const patterns = [...JSON.stringify(document).matchAll(/"pattern":"((?:[^"\\]|\\.)*)"/g)].map(([, pattern]) => pattern!);
    expect(patterns).to.not.be.empty();
    expect(patterns.filter((pattern) => /\\[pP]\{/.test(pattern))).to.equal([]);
  });

  it('has the endpoints of OAuth and of the Model Context Protocol', () => {
    const endpoints = ['GET /oauth/authorize', 'POST /oauth/device', 'POST /oauth/introspect', 'POST /oauth/register', 'GET /oauth/register/{client_id}', 'POST /oauth/revoke', 'POST /oauth/token'];
    expect(operations.map(({ name }) => name).filter((name) => name.includes(' /oauth/'))).to.equal(endpoints);
    for (const name of endpoints) expect([find(name).tags, find(name).security], name).to.equal([['oauth'], []]);
    expect(find('GET /oauth/authorize').parameters!.filter(({ required }) => required).map(({ name }) => name)).to.equal(['client_id', 'response_type', 'redirect_uri', 'code_challenge', 'code_challenge_method']);
    const { requestBody, responses } = find('POST /oauth/token');
    expect(Object.keys(requestBody!.content)).to.equal(['application/x-www-form-urlencoded']);
    expect((responses['200'] as Response).content!['application/json']!.schema).to.include({ $ref: '#/components/schemas/OauthTokens' });
    expect(find('POST /mcp').security).to.equal([{ oauth: [] }]);
  });

  it('describes JSON feeds as JSON Feed and files by their own media types', () => {
    const contentOf = (name: string) => Object.entries(responsesOf(find(name)).find(([status]) => status === '200')![1].content!);
    for (const under of ['places/{place_key}', 'issue-areas/{slug}']) {
      const [[type, { schema }]] = contentOf(`GET /api/${under}/feed.json`) as [[string, { schema: object }]];
      expect(type).to.equal('application/feed+json');
      expect(schema).to.include({ $ref: '#/components/schemas/JsonFeed' });
    }
    expect(contentOf('GET /api/imports/{id}/rejects')).to.equal([['application/x-ndjson', { schema: { type: 'string' } }]]);
    expect(document.components['schemas']!['JsonFeed']!['properties']).to.include(['version', 'items', 'feed_url']);
  });

  it('says what every input is', () => {
    const { ClaimDraft, SourceInput } = document.components['schemas'] as Record<string, { properties: Record<string, { anyOf?: object[] }> }>;
    expect(SourceInput!.properties['id']).to.not.exist();
    expect(ClaimDraft!.properties['value']!.anyOf!.length).to.be.above(10);
    for (const form of ClaimDraft!.properties['value']!.anyOf!) expect(form).to.include('type');
  });

  it('declares Retry-After and X-RateLimit-* for every 429', () => {
    const names = ['Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];
    const limited = operations.flatMap(({ operation }) => responsesOf(operation).filter(([status]) => status === '429'));
    expect(limited.length).to.be.above(10);
    for (const [, { headers }] of limited) expect(Object.keys(headers!)).to.include(names);
  });

  it('declares 431 for every operation', () => {
    expect(failing(({ responses }) => !responses['431'])).to.equal([]);
  });

  it('has no scopes under security, where only OAuth schemes may have them, and names them in x-civic', () => {
    expect(failing(({ security }) => security.some((way) => Object.values(way).some((scopes) => scopes.length > 0)))).to.equal([]);
    expect(find('POST /api/entities')['x-civic']!.scopes).to.equal(['entities:write']);
  });

  it('states which time the bounds of the Firehose compare', () => {
    const { NewFirehoseQuery } = document.components['schemas'] as Record<string, { properties: Record<string, object> }>;
    for (const bound of ['since', 'until']) {
      const parameter = find('GET /api/firehose').parameters!.find(({ name }) => name === bound)!;
      for (const text of [parameter.description, JSON.stringify(NewFirehoseQuery!.properties[bound])]) expect(text, bound).to.contain(['detected_at', 'occurred_at']);
      const ofPlace = find('GET /api/places/{place_key}/signals').parameters!.find(({ name }) => name === bound)!;
      expect(ofPlace.description).to.contain('detected_at').and.to.not.contain('occurred_at');
    }
  });

  it('has HEAD of the Firehose, without bodies', () => {
    const { operationId, responses } = find('HEAD /api/firehose');
    expect(operationId).to.equal('headFirehose');
    expect(Object.keys(responses)).to.include(['200', '304', '400', '401', '429']);
    expect(Object.values(responses).filter((response) => 'content' in response || '$ref' in response)).to.equal([]);
  });

  it('requires a body where a request without one is refused, and nowhere else', () => {
    const optional = ['POST /api/firehose/sessions', 'POST /api/firehose/sessions/{id}/tickets', 'POST /api/entities/{id}/split'];
    expect(operations.filter(({ operation }) => operation.requestBody?.required === false).map(({ name }) => name)).to.include(optional);
    expect(find('POST /api/entities').requestBody!.required).to.be.true();
    expect(find('POST /api/workspaces').requestBody!.required).to.be.true();
  });

  it('has a format for since and until, and lists the types a query may name', () => {
    const parameter = (name: string): Parameter => find('GET /api/firehose').parameters!.find((one) => one.name === name)!;
    for (const name of ['since', 'until']) expect(parameter(name).schema).to.equal({ $ref: '#/components/schemas/Moment' });
    expect(document.components['schemas']!['Moment']).to.include({ anyOf: [{ format: 'date-time' }, { format: 'date' }] });
    expect((parameter('signal_type').schema['items'] as { enum: string[] }).enum).to.include(['vote', 'public_meeting']);
  });
});
