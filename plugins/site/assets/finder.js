// Completes search fields while a user types, as the pattern "editable combobox with list autocomplete" of the ARIA Authoring Practices.
const SHORTEST = 2;
const WAIT_MS = 120;
let forms = 0;

function element(name, properties, attributes = {}) {
  const made = Object.assign(document.createElement(name), properties);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

function complete(form) {
  const input = form.elements.namedItem('query');
  const id = `finder-${++forms}`;
  const list = element('div', { id: `${id}-list`, className: 'suggestions', hidden: true }, { role: 'listbox', 'aria-label': input.labels[0].textContent });
  const status = element('p', { className: 'hidden' }, { role: 'status' });
  let options = [];
  let active = -1;
  let timer;
  let request;

  input.after(list, status);
  input.autocomplete = 'off';
  for (const [name, value] of Object.entries({ role: 'combobox', 'aria-autocomplete': 'list', 'aria-controls': list.id, 'aria-expanded': 'false' })) input.setAttribute(name, value);

  function mark(index) {
    options[active]?.removeAttribute('aria-selected');
    active = index;
    const option = options[active];
    if (!option) return input.removeAttribute('aria-activedescendant');
    option.setAttribute('aria-selected', 'true');
    option.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', option.id);
  }

  function close() {
    clearTimeout(timer);
    request?.abort();
    mark(-1);
    list.hidden = true;
    input.setAttribute('aria-expanded', 'false');
  }

  function show({ groups, status: words }) {
    mark(-1);
    list.replaceChildren(...groups.map(({ name, items }, at) => {
      const label = element('span', { id: `${id}-${at}`, className: 'group', textContent: name }, { role: 'presentation' });
      const group = element('div', {}, { role: 'group', 'aria-labelledby': label.id });
      group.append(label, ...items.map(({ name: text, detail, href }, index) => {
        const option = element('div', { id: `${id}-${at}-${index}` }, { role: 'option', 'data-href': href });
        option.append(element('span', { textContent: text }), ' ', element('span', { className: 'detail', textContent: detail }));
        return option;
      }));
      return group;
    }));
    options = [...list.querySelectorAll('[role=option]')];
    list.hidden = options.length === 0;
    input.setAttribute('aria-expanded', String(!list.hidden));
    status.textContent = words;
  }

  async function ask(text) {
    request?.abort();
    request = new AbortController();
    try {
      const response = await fetch(`${form.dataset.suggest}?${new URLSearchParams({ q: text })}`, { signal: request.signal, headers: { accept: 'application/json' } });
      if (response.ok && document.activeElement === input) show(await response.json());
    } catch (error) {
      // Without suggestions the form still searches.
      if (error.name !== 'AbortError') close();
    }
  }

  const keys = {
    ArrowDown: () => mark(active + 1 < options.length ? active + 1 : 0),
    ArrowUp: () => mark(active > 0 ? active - 1 : options.length - 1),
    Enter: () => location.assign(options[active].dataset.href),
    Escape: () => (list.hidden ? (input.value = '') : close()),
  };

  input.addEventListener('input', () => {
    const text = input.value.trim();
    clearTimeout(timer);
    if ([...text].length < SHORTEST) return close();
    timer = setTimeout(() => ask(text), WAIT_MS);
  });
  input.addEventListener('keydown', (event) => {
    const isArrow = event.key === 'ArrowDown' || event.key === 'ArrowUp';
    if (event.isComposing || !keys[event.key] || (isArrow && list.hidden) || (event.key === 'Enter' && active < 0)) return;
    event.preventDefault();
    keys[event.key]();
  });
  input.addEventListener('blur', close);
  form.addEventListener('submit', close);
  // The field keeps the focus, so that the list is still open when the button is released.
  list.addEventListener('pointerdown', (event) => event.preventDefault());
  list.addEventListener('click', ({ target }) => {
    const option = target.closest('[role=option]');
    if (option) location.assign(option.dataset.href);
  });
}

for (const form of document.querySelectorAll('form[data-suggest]')) complete(form);
