import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin, type Fetch } from 'civic';
import type { Document } from 'civic/reader';
import { testServer, type TestServer } from 'civic/testing';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extractActors } from '../extract/extract.ts';
import { createModel, ModelError, type Model } from '../extract/model.ts';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

interface Asked { response_format?: { type: string }; model: string; messages: { content: string }[] }
const PAGE = '<title>News</title><main><p>On Tuesday the pond keepers of Lark Hollow, led by Wren Abernathy as their speaker, met again near the mill to count frogs.</p><p>Mayor Janet Okafor</p></main>';

describe('Extraction with a language model', () => {
  let kit: TestServer;
  let fake: Server;
  let fetch: Fetch;
  let document: Document;
  let model: Model;
  let asked: (Asked & { headers: IncomingHttpHeaders; path: string })[] = [];
  let respond: (asked: Asked) => { status?: number; content?: string; body?: string; location?: string };

  before(async () => {
    fake = createServer((request, response) => {
      let text = '';
      request.on('data', (part: Buffer) => { text += part.toString(); }).on('end', () => {
        const call = JSON.parse(text) as Asked;
        asked.push({ ...call, headers: request.headers, path: request.url! });
        const { status = 200, content = '', body, location } = respond(call);
        response.writeHead(status, { 'content-type': 'application/json', ...(location ? { location } : {}) }).end(body ?? JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
      });
    });
    await new Promise<void>((resolve) => { fake.listen(0, '127.0.0.1', resolve); });
    const user = definePlugin({
      name: 'listener', summary: 'Reads documents for tests', needs: ['reader'],
      register: (_server, civic) => ({ async start() {
        fetch = civic.fetch;
        document = await civic.service('reader').document({ url: 'https://news.example/', content_type: 'text/html', body: Buffer.from(PAGE) });
      } }),
    });
    kit = await testServer({ plugins: ['reader', user], config: { http: { fetch: { allow_private_addresses: true } } } });
  });
  beforeEach(() => {
    asked = [];
    model = createModel(fetch, { url: `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1/`, name: 'small', api_key: 'secret-key' });
  });
  after(async () => {
    await kit.close();
    fake.close();
  });

  const keepers = { type: 'organization', name: 'pond keepers of Lark Hollow', quote: 'the pond keepers of Lark Hollow, led by', role: null, organization: null };
  const wren = { type: 'person', name: 'Wren Abernathy', quote: 'led by Wren Abernathy as their speaker', role: 'speaker', organization: 'pond keepers of Lark Hollow' };

  it('keeps what is in the text character by character, and asks only about the rest of the page', async () => {
    respond = () => ({ content: JSON.stringify({ actors: [
      keepers, wren, { ...keepers, name: 'Frog Society', quote: 'the Frog Society of Lark Hollow' }, { ...wren, name: 'Wren A. Abernathy' }, { ...keepers, name: 'x'.repeat(200) }, { ...keepers, type: 'city' }, 'Lark Hollow', null,
      { ...wren, name: 'Janet Okafor', quote: 'Mayor Janet Okafor' },
    ] }) });
    const actors = await model.actors(document, extractActors(document));
    expect(actors.map(({ type, name, method }) => [type, name, method])).to.equal([['organization', 'pond keepers of Lark Hollow', 'model'], ['person', 'Wren Abernathy', 'model']]);
    for (const { claims } of actors) for (const { property, value, start, end } of claims) if (property === 'name') expect(document.text.slice(start, end)).to.equal(value);
    expect(actors[1]!.claims[1]).to.include({ property: 'affiliation', value: { entity_id: null, name: 'pond keepers of Lark Hollow', role: 'speaker', since: null, until: null } });
    expect(asked.map(({ path, model: name, headers, response_format: format }) => [path, name, headers.authorization, format?.type])).to.equal([['/v1/chat/completions', 'small', 'Bearer secret-key', 'json_schema']]);
    expect(asked[0]!.messages[1]!.content).to.contain('pond keepers').and.to.not.contain('Mayor Janet Okafor');
  });

  it('asks for JSON in another way when the server does not know one, and remembers which', async () => {
    respond = ({ response_format: format }) => (format ? { status: format.type === 'json_schema' ? 400 : 422 } : { content: `Here you are:\n\`\`\`json\n${JSON.stringify({ actors: [keepers] })}\n\`\`\`` });
    expect((await model.actors(document, [])).map(({ name }) => name)).to.equal(['pond keepers of Lark Hollow']);
    await model.actors(document, []);
    expect(asked.map(({ response_format: format }) => format?.type)).to.equal(['json_schema', 'json_object', undefined, undefined]);
  });

  it('rejects what is no completion, and sends the key to no other server', async () => {
    for (const [response, code] of [
      [{ content: 'I cannot help with that.' }, 'model_invalid'], [{ content: '{"actors": "none"}' }, 'model_invalid'], [{ body: '{"choices": []}' }, 'model_invalid'], [{ body: '<html>' }, 'model_invalid'],
      [{ status: 401 }, 'model_refused'], [{ status: 500 }, 'model_failed'], [{ status: 429 }, 'model_failed'],
    ] as const) {
      respond = () => response;
      const error = await expect(model.actors(document, [])).to.reject(ModelError);
      expect((error as ModelError).code).to.equal(code);
    }
    asked = [];
    respond = () => ({ status: 307, location: 'http://127.0.0.1:9/v1/chat/completions' });
    await expect(model.actors(document, [])).to.reject();
    expect(asked.length).to.equal(1);
  });

  it('asks nothing about a page without text', async () => {
    expect(await model.actors({ ...document, text: '', blocks: [] }, [])).to.equal([]);
    expect(asked).to.equal([]);
  });
});
