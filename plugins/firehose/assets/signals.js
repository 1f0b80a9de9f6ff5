// Says when there is something new above, and shows it when asked to: nobody loses the line they are reading.
const list = document.querySelector('#signals[data-live]');
const news = document.querySelector('[data-news]');
const connection = document.querySelector('[data-connection]');
const heading = document.title;

const waiting = new Set();
const changed = new Set();
let more = 0;

const shownIds = () => new Set([...list.querySelectorAll('article.signal')].map(({ id }) => id.slice('signal-'.length)));
const filled = (text, value) => text.replace('%', () => value);
const counted = (count) => (count === 1 ? news.dataset.oneText : filled(news.dataset.manyText, `${count}${more > 0 ? '+' : ''}`));

function isAskedFor({ places, issues, type, source_class: sourceClass }) {
  const filter = JSON.parse(list.dataset.filter);
  const asks = (wanted, values) => wanted.length === 0 || values.some((value) => wanted.includes(value));
  return asks(filter.places, places) && asks(filter.issues, issues) && asks(filter.types, [type]) && !(filter.except.types.includes(type) && filter.except.classes.includes(sourceClass));
}

function take(signal, ids) {
  if (ids.has(signal.id)) changed.add(signal.id);
  else if (signal.isGone) waiting.delete(signal.id);
  else if (isAskedFor(signal)) waiting.add(signal.id);
}

/** A button in the status line, which is read out politely when it changes. */
function tellNews() {
  const parts = [
    ...(waiting.size + more > 0 ? [counted(waiting.size + more)] : []),
    ...(changed.size > 0 ? [filled(news.dataset.changedText, changed.size)] : []),
  ];
  document.title = waiting.size > 0 ? `(${waiting.size}) ${heading}` : heading;
  if (parts.length === 0) return news.replaceChildren();
  const button = news.querySelector('button') ?? newButton();
  button.textContent = filled(news.dataset.showText, parts.join(', '));
  news.replaceChildren(button);
}

function newButton() {
  const button = document.createElement('button');
  button.className = 'button';
  button.addEventListener('click', show);
  return button;
}

/** The page as it is now, from the server. */
async function readAnew() {
  const answer = await fetch(location.href, { headers: { accept: 'text/html' }, cache: 'no-store' });
  if (!answer.ok) throw new Error(String(answer.status));
  return new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('#signals');
}

async function show() {
  try {
    const fresh = await readAnew();
    const before = shownIds();
    list.replaceChildren(...fresh.childNodes);
    const arrived = [...list.querySelectorAll('article.signal')].filter(({ id }) => !before.has(id.slice('signal-'.length)));
    for (const article of arrived) article.classList.add('fresh');
    waiting.clear();
    changed.clear();
    more = 0;
    tellNews();
    list.focus({ preventScroll: true });
    list.scrollIntoView({ block: 'nearest' });
  } catch {
    location.reload();
  }
}

function tellConnection(words, isLost) {
  connection.textContent = words;
  connection.classList.toggle('lost', isLost);
}

/** Nobody told this page what happened while it was away. */
async function lookForMissed() {
  const ids = shownIds();
  const there = (await readAnew()).querySelectorAll('article.signal');
  for (const { id } of there) if (!ids.has(id.slice('signal-'.length))) waiting.add(id.slice('signal-'.length));
  tellNews();
}

list?.addEventListener('live-message', ({ detail }) => {
  const ids = shownIds();
  for (const signal of detail.signals) take(signal, ids);
  more += detail.more;
  tellNews();
});

list?.addEventListener('live-state', ({ detail }) => {
  if (detail === 'lost') return tellConnection(connection.dataset.lostText, true);
  tellConnection(detail === 'again' ? connection.dataset.againText : connection.dataset.liveText, false);
  if (detail === 'again') lookForMissed().catch(() => undefined);
});
