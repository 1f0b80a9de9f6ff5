import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { testServer } from 'civic/testing';
import { SIGNAL_TYPES } from '../types.ts';
import { asyncApiFaults } from './asyncapi-kit.ts';
import { firehoseKit, type FirehoseKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Says that it publishes votes and filings, as a plugin that reads minutes would. */
const minutes = definePlugin({
  name: 'minutes',
  summary: 'Publishes votes and filings',
  needs: ['firehose'],
  register(_server, civic) { civic.service('firehose').produces(['vote', 'filing']); },
});

describe('Contracts of the Firehose', { timeout: 60_000 }, () => {
  let kit: FirehoseKit;
  before(async () => { kit = await firehoseKit(); });
  after(() => kit.close());

  it('declare the headers of streams and sockets in OpenAPI, of requests and responses', async () => {
    const { body } = await kit.ask('GET', '/openapi.json');
    const of = (path: string) => body.paths[`/api/firehose/sessions/{id}/${path}`].get;
    const sent = (path: string) => of(path).parameters.filter((one: any) => one.in === 'header').map(({ name }: any) => name.toLowerCase()).sort();
    const answered = (path: string, status: number) => {
      const answer = of(path).responses[status];
      return Object.keys((answer.$ref ? body.components.responses[answer.$ref.split('/').pop()] : answer).headers);
    };
    expect(sent('events')).to.equal(['last-event-id']);
    expect(sent('socket')).to.equal(['last-event-id', 'sec-websocket-protocol']);
    expect(answered('events', 200)).to.include(['Cache-Control', 'Content-Location', 'Vary', 'Tracestate']);
    for (const path of ['events', 'socket']) expect(answered(path, 405)).to.include('Allow');
  });

  it('are valid in AsyncAPI, and name the channel and its three messages', async () => {
    const { status, body } = await kit.ask('GET', '/asyncapi.json');
    expect(status).to.equal(200);
    expect(asyncApiFaults(body)).to.be.null();
    const [name, channel] = Object.entries(body.channels as Record<string, { address: string; messages: object }>).find(([, { address }]) => address === '/api/firehose')!;
    expect(Object.keys(channel.messages).sort()).to.equal(['firehose.ready', 'firehose.signal', 'heartbeat']);
    expect(body.operations[`${name}.send`].action).to.equal('send');
    expect(body.components.schemas.SignalType.anyOf[0].enum.toSorted()).to.equal(SIGNAL_TYPES.toSorted());
  });
});

describe('AsyncAPI of the Firehose', { timeout: 60_000 }, () => {
  it('lists only signal types that a plugin produces, and so does OpenAPI', async () => {
    const kit = await testServer({ plugins: ['firehose', minutes], config: { plugins: { firehose: { anonymous: true } } } });
    for (const path of ['/asyncapi.json', '/openapi.json']) {
      const { body } = await kit.request('GET', path);
      expect(body.components.schemas.SignalType.anyOf[0].enum.toSorted(), path).to.equal(['filing', 'vote']);
    }
    // A query may name every built-in type.
    const { body: { components } } = await kit.request('GET', '/openapi.json');
    expect(components.schemas.NewFirehoseQuery.properties.signal_types.items.enum).to.equal([...SIGNAL_TYPES]);
    // Whoever asks for all of them everywhere is not refused here.
    expect((await kit.request('GET', '/api/firehose?visibility=public&signal_type=grant_award')).body.signals).to.equal([]);
    await kit.close();
  });

  it('is valid when no plugin produces signals', async () => {
    const kit = await testServer({ plugins: ['firehose'] });
    expect(asyncApiFaults((await kit.request('GET', '/asyncapi.json')).body)).to.be.null();
    await kit.close();
  });
});
