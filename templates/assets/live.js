// Follows the topics that elements name in `data-live` and tells each element by events, `live-message` and `live-state`.
// The protocol is nes' own: hello with the topics, then pub, and a ping that is answered.
const address = new URL('../live', import.meta.url);
address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';

const topics = new Map();
for (const element of document.querySelectorAll('[data-live]')) topics.set(element.dataset.live, [...(topics.get(element.dataset.live) ?? []), element]);

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 60_000;
let wait = FIRST_WAIT;
let wasOpen = false;
let silence;

function tell(elements, name, detail) {
  for (const element of elements) element.dispatchEvent(new CustomEvent(name, { detail }));
}

function tellAll(state) {
  tell([...topics.values()].flat(), 'live-state', state);
}

function connect() {
  const socket = new WebSocket(address);
  let heartbeat = null;
  let isOpen = false;

  // A server that says nothing for longer than it promised is gone, even when the network does not know it yet.
  const listen = () => {
    clearTimeout(silence);
    if (heartbeat) silence = setTimeout(() => socket.close(), heartbeat.interval + heartbeat.timeout);
  };
  const receive = {
    hello(message) {
      if (message.statusCode) return socket.close();
      heartbeat = message.heartbeat;
      isOpen = true;
      wait = FIRST_WAIT;
      tellAll(wasOpen ? 'again' : 'open');
      wasOpen = true;
    },
    ping() { socket.send('{"type":"ping","id":1}'); },
    pub({ path, message }) { tell(topics.get(path) ?? [], 'live-message', message); },
  };
  socket.addEventListener('open', () => socket.send(JSON.stringify({ type: 'hello', id: 1, version: '2', subs: [...topics.keys()] })));
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(data);
    receive[message.type]?.(message);
    listen();
  });
  socket.addEventListener('close', () => {
    clearTimeout(silence);
    if (isOpen) tellAll('lost');
    setTimeout(connect, wait * (0.5 + Math.random()));
    wait = Math.min(wait * 2, LONGEST_WAIT);
  });
}

if (topics.size > 0) connect();
