import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { asyncApi, type AsyncApi } from '../asyncapi.ts';
import { shelfServer } from './fixture.ts';

export const lab = Lab.script();
export const ownProcess = 'it registers problem codes of core with other texts';
const { describe, it, before } = lab;

describe('AsyncAPI', () => {
  const options = { info: { title: 'Shelves', version: '1.0.0' }, publicUrl: 'https://shelves.example/sub' };
  let document: AsyncApi;

  before(async () => {
    document = asyncApi(await shelfServer(), options);
  });

  it('says the same of the same routes, byte for byte', async () => {
    expect(JSON.stringify(asyncApi(await shelfServer(), options))).to.equal(JSON.stringify(document));
  });

  it('holds a channel for each stream and socket, and nothing else', () => {
    expect(Object.values(document.channels).map(({ address }) => address)).to.equal(['/api/shelves/events', '/api/shelves/{shelf_id}/socket']);
  });

  it('separates streams and sockets by their server', () => {
    expect(document.servers).to.equal({
      events: { host: 'shelves.example', pathname: '/sub', protocol: 'https', description: 'Server-sent events' },
      sockets: { host: 'shelves.example', pathname: '/sub', protocol: 'wss', description: 'WebSocket' },
    });
    expect(document.channels.getShelvesEvents!.servers).to.equal([{ $ref: '#/servers/events' }]);
    expect(document.channels.getShelvesShelfIdSocket!.servers).to.equal([{ $ref: '#/servers/sockets' }]);
  });

  it('describes what is sent and what is taken', () => {
    const { send, receive } = { send: document.operations['getShelvesShelfIdSocket.send']!, receive: document.operations['getShelvesShelfIdSocket.receive']! };
    expect(send.action).to.equal('send');
    expect(send.messages).to.equal([{ $ref: '#/channels/getShelvesShelfIdSocket/messages/shelf.moved' }]);
    expect(receive.messages).to.equal([{ $ref: '#/channels/getShelvesShelfIdSocket/messages/ping' }]);
    expect(document.operations).to.not.include('getShelvesEvents.receive');
  });

  it('takes messages from their schemas and says each once', () => {
    expect(Object.keys(document.components.messages)).to.equal(['ping', 'shelf.moved']);
    expect(document.components.messages['shelf.moved']).to.equal({ name: 'shelf.moved', contentType: 'application/json', summary: 'A shelf was moved', payload: { description: 'A shelf was moved', $ref: '#/components/schemas/ShelfMoved' } });
    expect(Object.keys(document.components.schemas)).to.equal(['Place', 'Shelf', 'ShelfMoved']);
  });

  it('names the subprotocol, parameters and query of a socket', () => {
    const socket = document.channels.getShelvesShelfIdSocket!;
    expect(socket['x-subprotocol']).to.equal('shelf.v1');
    expect(socket.parameters).to.equal({ shelf_id: { description: 'The shelf' } });
    expect(socket.bindings.ws).to.include({ method: 'GET' });
  });
});
