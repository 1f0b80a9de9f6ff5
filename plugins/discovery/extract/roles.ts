import type { Range } from 'civic/reader';
import type { Candidate } from './candidates.ts';
import type { Line } from './lines.ts';
import { isRole, ROLE_WORDS } from './words/roles.ts';

const LONGEST_ROLE = 120;
const ROLE_COLUMN = /\b(?:title|position|role|office|cargo|puesto)\b/;

/** In a sentence a role follows a name in small letters: `, director of the Example Union,`. */
export const LOWER_ROLE = new RegExp(`^,\\s{1,2}(?:(?:the|an?|el|la|un|una)\\s)?((?:[\\p{Ll}-]{2,20}\\s){0,4}(?:${[...ROLE_WORDS].join('|')}))\\b(?:\\s(?:of|for|at|with|de|del)\\s(?:the\\s|la\\s|el\\s)?(\\p{Lu}[\\p{L}'’&-]*(?:\\s(?:of\\s|for\\s|and\\s|de\\s|&\\s)?\\p{Lu}[\\p{L}'’&-]*){0,7}))?`, 'u');

/** What a person does, with its passage. */
export interface Role extends Range {
  text: string;
  /** The organization that the same sentence names. */
  organization?: string;
}

/** Returns the role that the page states beside the name of a person: on the line, in the row, above or below. */
export function roleOf({ line, start, end, office }: Candidate, lines: Line[], isBelow: boolean): Role | null {
  if (!line) return null;
  const before = office ? line.text.slice(office.start - line.start, office.end - line.start) : '';
  return onLine(line, start, end) ?? (office && isRole(before) ? roleAt(before, office.start) : null) ?? inRow(line, lines) ?? besides(line, lines, isBelow);
}

function onLine(line: Line, start: number, end: number): Role | null {
  const after = line.text.slice(end - line.start);
  const [, gap = '', role = ''] = /^(\s*(?:,|[-–—|:(/])\s*)([^;|)@\d]{3,120})/.exec(after) ?? [];
  const next = role.split(/\s[-–—]\s/)[0]!.trim();
  if (isRole(next)) return roleAt(next, end + gap.length);
  const lower = LOWER_ROLE.exec(after);
  if (lower) return { text: lower[1]!, start: end + lower[0].indexOf(lower[1]!), end: end + lower[0].length, organization: lower[2] };
  const before = line.text.slice(0, start - line.start);
  const labelled = /^\W*([^:|]{3,80}?)\s*(?::|\s[-–—|])\s*$/u.exec(before)?.[1];
  return labelled && isRole(labelled) ? roleAt(labelled, line.start + before.indexOf(labelled)) : null;
}

/** The cell of another column, or another line of the same card. */
function inRow(line: Line, lines: Line[]): Role | null {
  if (line.item === null) return null;
  const near = [1, 2, 3, 4, -1, -2].map((step) => lines[line.number + step]).filter((other) => other !== undefined && other.item === line.item);
  const found = near.find((other) => other!.text.length <= LONGEST_ROLE && ROLE_COLUMN.test(other!.column)) ?? near.find((other) => other!.isRole);
  return found ? roleAt(found.text.trim(), found.start + found.text.indexOf(found.text.trim())) : null;
}

/** The line above or below. Where both are roles, `isBelow` decides. */
function besides(line: Line, lines: Line[], isBelow: boolean): Role | null {
  const { above, below } = rolesBeside(line, lines);
  const found = isBelow ? below ?? above : above ?? below;
  return found ? roleAt(found.text.trim(), found.start + found.text.indexOf(found.text.trim())) : null;
}

function rolesBeside(line: Line, lines: Line[]): { above: Line | null; below: Line | null } {
  const roleAt = (step: number) => {
    const other = lines[line.number + step];
    const isNear = other?.isRole && !line.isProse && Math.abs(other.block - line.block) <= 2 && (other.item === line.item || other.item === null || line.item === null);
    return isNear ? other : null;
  };
  return { above: roleAt(-1), below: roleAt(1) };
}

/** Whether roles follow names on a page: in a list of both, the first or the last name has a role on one side only. */
export function areRolesBelow(people: Candidate[], lines: Line[]): boolean {
  let votes = 0;
  for (const { line } of people) {
    if (!line) continue;
    const { above, below } = rolesBeside(line, lines);
    votes += Number(below !== null && above === null) - Number(above !== null && below === null);
  }
  return votes >= 0;
}

function roleAt(text: string, start: number): Role {
  const role = text.replace(/[\s,;:.–—-]+$/, '').slice(0, LONGEST_ROLE);
  return { text: role, start, end: start + role.length };
}
