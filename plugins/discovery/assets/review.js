// Keys for reviewers. Everything can also be done with links and buttons; the page lists the keys, and they can be switched off.
const STORED = 'civic-discovery-keys';
const help = document.querySelector('#keys');
const isOn = document.querySelector('#keys-on');
const links = [...document.querySelectorAll('[data-candidate] h3 a')];

function isOff() {
  try { return localStorage.getItem(STORED) === 'off'; } catch { return false; }
}

const current = () => document.activeElement?.closest('[data-candidate]');
const box = () => current()?.querySelector('input');

function move(step) {
  const at = links.findIndex((link) => link.closest('[data-candidate]').contains(document.activeElement));
  links[Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
}

/** Presses what the page has for a key. In the list the current candidate is selected first, when none is. */
function press(key) {
  const isList = links.length > 0 && (key === 'a' || key === 'r');
  if (isList && !document.querySelector('[data-candidate] input:checked')) {
    if (!box()) return;
    box().checked = true;
  }
  const target = document.querySelector(`[data-key=${key}]`);
  target?.focus();
  target?.click();
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  x() { if (box()) box().checked = !box().checked; },
  '?'() { help.open = !help.open; help.querySelector('summary').focus(); },
};
for (const key of ['a', 'r', 'm', 'e', 'n', 'u']) KEYS[key] = () => press(key);

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
