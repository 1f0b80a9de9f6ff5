import { definePlugin, Joi, upgradeOnly } from 'civic';
import { WebSocketServer } from 'ws';

const beat = Joi.object({ type: Joi.string().valid('beat').required() }).meta({ name: 'Beat' });

/** Answers in the three ways that hapi's own response hooks do not see: a raw stream, a socket, and a refused upgrade. */
export default definePlugin({
  name: 'pulse',
  summary: 'Streams and sockets that beat once',
  scopes: { 'pulse:read': { label: 'Follow the pulse' } },

  register(server, civic) {
    const sockets = new WebSocketServer({ noServer: true });

    server.route([
      {
        method: 'GET',
        path: '/api/pulse',
        options: {
          description: 'A stream with one event',
          validate: { query: Joi.object({}) },
          plugins: { civic: { raw: true, rate: 'stream', stream: { protocol: 'sse', send: { beat } } } },
        },
        handler: (request, h) => {
          const { res } = request.raw;
          res.writeHead(200, { ...civic.headers(request), 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
          res.end('event: beat\ndata: {"type":"beat"}\n\n');
          return h.abandon;
        },
      },
      {
        method: 'GET',
        path: '/api/pulse/socket',
        options: {
          description: 'A socket that beats once',
          auth: { mode: 'required', access: { scope: ['pulse:read'] } },
          validate: { query: Joi.object({}) },
          plugins: { civic: { rate: 'stream', stream: { protocol: 'websocket', send: { beat } } } },
        },
        handler: upgradeOnly,
      },
    ]);

    civic.upgrade('/api/pulse/socket', (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (open) => { open.send('{"type":"beat"}'); });
    });

    return { stop: async () => { for (const client of sockets.clients) client.terminate(); } };
  },
});
