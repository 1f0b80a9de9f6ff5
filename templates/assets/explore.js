// Filters the operations of the API page, opens the one that the address names, and sends the forms that try an operation.
const MOST_CHARACTERS = 100_000;
const LONGEST_MS = 10_000;

for (const area of document.querySelectorAll('[data-filter]')) addFilter(area);
for (const form of document.querySelectorAll('form.try')) addTry(form);
for (const button of document.querySelectorAll('button.copy')) addCopy(button);
addEventListener('hashchange', openTarget);
openTarget();

/** Older browsers do not open the fold around the target of a link. */
function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target && target.closest('details');
  if (!fold || fold.open) return;
  fold.open = true;
  target.scrollIntoView();
}

function addCopy(button) {
  // Browsers offer the clipboard only to pages of https and of this machine.
  if (!navigator.clipboard) return;
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.parentElement.querySelector('code').textContent);
    const label = button.textContent;
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = label; }, 1500);
  });
}

function addFilter(area) {
  const form = area.querySelector('.filter');
  if (!form) return;
  const input = form.querySelector('input');
  const status = form.querySelector('[role=status]');
  const items = [...area.querySelectorAll('[data-find]')].map((item) => ({ item, text: `${item.dataset.words ?? ''} ${item.matches('details') ? item.querySelector('summary').textContent : item.textContent}`.toLowerCase() }));
  const parts = [...area.querySelectorAll('[data-part]')];
  form.hidden = false;
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { item, text } of items) item.hidden = !words.every((word) => text.includes(word));
    for (const part of parts) part.hidden = !part.querySelector('[data-find]:not([hidden])');
    const found = items.filter(({ item }) => !item.hidden && !item.matches('details')).length;
    status.textContent = words.length === 0 ? '' : found === 0 ? status.dataset.none : status.dataset.found.replace('%n', found);
  });
}

function addTry(form) {
  const key = form.querySelector('[data-in=key]');
  if (key) {
    key.disabled = false;
    key.closest('.try-key').hidden = false;
    // One key serves all forms of the page. It is stored nowhere.
    key.addEventListener('input', () => { for (const other of document.querySelectorAll('[data-in=key]')) if (other !== key) other.value = key.value; });
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const button = form.querySelector('button');
    button.disabled = true;
    await send(form, key);
    button.disabled = false;
  });
}

function addressOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const field of form.querySelectorAll('[data-in]')) {
    if (field.dataset.in === 'path') path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
    else if (field.dataset.in === 'query' && field.value !== '') query.append(field.name, field.value);
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

async function send(form, key) {
  const result = form.querySelector('.result');
  const address = addressOf(form);
  const started = performance.now();
  const signal = AbortSignal.timeout(LONGEST_MS);
  try {
    const response = await fetch(address, { headers: key && key.value !== '' ? { 'X-API-Key': key.value } : {}, credentials: 'omit', cache: 'no-store', signal });
    const waited = Math.round(performance.now() - started);
    show(result, { address, response, waited, ...await bodyOf(response) });
  } catch {
    result.replaceChildren(element('p', 'error', result.dataset.error));
  }
}

/** Reads up to a limit, since a stream does not end and an export is long. */
async function bodyOf(response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    while (reader && text.length < MOST_CHARACTERS) {
      const { done, value } = await reader.read();
      if (done) return { text: pretty(text), isCut: false };
      text += value;
    }
  } catch {
    // The time is up: what has arrived is shown.
  }
  reader?.cancel().catch(() => {});
  return { text: text.slice(0, MOST_CHARACTERS), isCut: reader !== undefined };
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function show(result, { address, response, waited, text, isCut }) {
  const line = element('p', 'result-line');
  line.append(element('span', `status s${String(response.status)[0]}`, response.status), ` ${response.statusText} · ${waited} ms · `, element('code', '', address));
  const headers = element('details', 'more');
  headers.append(element('summary', '', result.dataset.headers), element('pre', '', [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')));
  const body = element('pre', 'result-body', isCut ? `${text}\n${result.dataset.cut}` : text);
  body.tabIndex = 0;
  result.replaceChildren(line, headers, ...(text === '' ? [] : [body]));
}

function element(name, className, text = '') {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.textContent = text;
  return made;
}
