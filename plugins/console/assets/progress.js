// Shows how far a backup is while it runs. Without this script the page has a link that reloads it.
const PAUSE_MS = 1500;

/** Replaces the list by its present state, unless the focus is inside: it would be lost. */
async function update() {
  const shown = document.querySelector('#backups');
  if (shown?.dataset.backups !== 'running') return;
  try {
    const response = await fetch(location.pathname, { headers: { accept: 'text/html' } });
    const next = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('#backups');
    if (response.ok && next && !shown.contains(document.activeElement)) shown.replaceWith(next);
  } catch {
    // The server may be restarting.
  }
  setTimeout(update, PAUSE_MS);
}

setTimeout(update, PAUSE_MS);
