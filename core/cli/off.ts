import { join, relative } from 'node:path';
import type { ConfigDocument } from '../config/load.ts';
import { hasOwnFile, type OffPlugin } from '../defaults.ts';
import type { CheckResult } from '../plugin.ts';

/** Returns the config file that the operator edits, whether it exists or not, as seen from the current folder. */
export function editedFile(document: ConfigDocument): string {
  if (hasOwnFile(document)) return document.file!;
  const file = join(document.root, 'config/civic.yaml');
  const shown = relative(document.cwd, file);
  return shown.startsWith('..') ? file : shown;
}

export function namesOf(plugins: { name: string }[]): string {
  return plugins.map(({ name }) => name).join(', ') || 'none';
}

/** Returns one sentence for each recommended plugin that is off. */
export function offWarnings(off: OffPlugin[]): string[] {
  return off.flatMap(({ name, warning }) => (warning === undefined ? [] : [`${name} is off. ${warning}`]));
}

/** Describes a default plugin that came with an upgrade and is not in the config file yet. */
export function newDefaultText(name: string, document: ConfigDocument): string {
  return `${name} is a new default plugin. To run it, add "${name}:" under "plugins:" in ${editedFile(document)}; to decline it, add "${name}: { enabled: false }".`;
}

/** The result of `doctor` for the plugins that are off. */
export function offResult(off: OffPlugin[], document: ConfigDocument): CheckResult {
  const warnings = offWarnings(off);
  if (warnings.length === 0) return { status: 'ok', detail: off.length > 0 ? `off: ${namesOf(off)}` : 'all plugins of the kit are on' };
  const recommended = off.filter(({ warning }) => warning !== undefined).map(({ name }) => `"${name}:"`).join(' and ');
  return { status: 'warning', detail: `off: ${namesOf(off)}. ${warnings.join(' ')}`, fix: `add ${recommended} under "plugins:" in ${editedFile(document)}` };
}
