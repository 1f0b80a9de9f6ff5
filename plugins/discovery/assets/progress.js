// Shows how far a run is while it runs. Without this script the page has a link that reloads it.
const live = document.querySelector('[data-events]');
const bar = live.querySelector('progress');
const numbers = new Intl.NumberFormat(document.documentElement.lang);

function show({ progress, counts }) {
  for (const phase of live.querySelectorAll('[data-phase]')) phase.hidden = phase.dataset.phase !== (progress.phase ?? 'find');
  if (progress.total > 0) Object.assign(bar, { max: progress.total, value: progress.done });
  const shown = { done: progress.done, total: progress.total, candidates: counts.candidates };
  for (const number of live.querySelectorAll('[data-count]')) number.textContent = numbers.format(shown[number.dataset.count]);
}

/** The page then has the candidates. A form that is being filled in is not lost: the page of an open run has none with text. */
function end(events) {
  events.close();
  location.reload();
}

live.querySelector('[data-reload]').hidden = true;
const events = new EventSource(live.dataset.events);
events.addEventListener('progress', ({ data }) => show(JSON.parse(data)));
for (const name of ['completed', 'failed']) events.addEventListener(name, () => end(events));
