// Keys for reviewers. Everything can also be done with links and buttons; the page lists the keys, and they can be switched off.
const STORED = 'civic-report-keys';
const help = document.querySelector('#keys');
const isOn = document.querySelector('#keys-on');
const links = [...document.querySelectorAll('[data-report] h2 a')];

function isOff() {
  try { return localStorage.getItem(STORED) === 'off'; } catch { return false; }
}

function move(step) {
  const at = links.findIndex((link) => link.closest('[data-report]').contains(document.activeElement));
  links[Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
}

const current = () => document.activeElement?.closest('[data-report]');
const button = (decision) => document.querySelector(`button[name=decision][value^=${decision}]`);

/** Selects the current report when none is selected, and presses a button of the list. */
function decide(decision) {
  const box = current()?.querySelector('input');
  if (box && !document.querySelector('[data-report] input:checked')) box.checked = true;
  if (links.length === 0 || document.querySelector('[data-report] input:checked')) button(decision)?.click();
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  x() { const box = current()?.querySelector('input'); if (box) box.checked = !box.checked; },
  a() { const edit = document.querySelector('.edits input:checked'); if (edit) edit.focus(); else decide('accept'); },
  d: () => decide('dismiss'),
  u: () => document.querySelector('[data-key=u]')?.click(),
  '?'() { help.open = !help.open; help.querySelector('summary').focus(); },
};

isOn.checked = !isOff();
isOn.addEventListener('change', () => {
  try { localStorage.setItem(STORED, isOn.checked ? 'on' : 'off'); } catch { /* The choice then holds for this page. */ }
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.matches('textarea, select, input:not([type=checkbox], [type=radio])');
  if (!isOn.checked || isTyping || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
});

/** Shows the fields of the chosen correction only. */
function showFields() {
  const chosen = document.querySelector('.edits input:checked')?.value;
  for (const field of document.querySelectorAll('[data-for]')) field.hidden = !field.dataset.for.split(' ').includes(chosen);
}
// Fields state which correction they are for. Only those of the chosen correction are shown here, so the statement is hidden.
for (const purpose of document.querySelectorAll('.purpose')) purpose.hidden = true;
for (const radio of document.querySelectorAll('.edits input')) radio.addEventListener('change', showFields);
showFields();
