// Checks the licence of every installed package against a list. Fails on any that is unknown, missing or not listed.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const PERMISSIVE = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC', 'MIT', 'MIT-0'];
// Of tools that are used for development and are no part of what runs.
const DEVELOPMENT = [...PERMISSIVE, 'CC-BY-4.0', 'MPL-2.0', 'Python-2.0', 'Unlicense'];
// Packages whose manifest does not name an SPDX licence, with the one that their LICENSE file has.
const READ_BY_HAND = { 'zipcodes BSD': 'BSD-3-Clause' };

const root = process.argv[2] ?? join(import.meta.dirname, '..');
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));

function licenceOf({ license, licenses }) {
  if (typeof license === 'string') return license;
  const types = (licenses ?? [license]).map((one) => one?.type ?? one).filter((type) => typeof type === 'string');
  return types.join(' OR ');
}

/** Whether an SPDX expression, such as `(MIT OR WTFPL)`, is met by the listed licences. */
function isAllowed(expression, listed) {
  const words = expression.replace(/^\((.*)\)$/, '$1');
  if (words.includes('(') || words.includes(' WITH ')) return false;
  return words.split(' OR ').some((choice) => choice.split(' AND ').every((name) => listed.includes(name)));
}

const faults = [];
let checked = 0;
for (const [path, { dev, devOptional, optional }] of Object.entries(packages)) {
  const file = join(root, path, 'package.json');
  if (path === '' || !existsSync(file)) {
    if (path !== '' && !optional && !dev && !devOptional) faults.push(`${path} is not installed`);
    continue;
  }
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const licence = licenceOf(manifest);
  const listed = dev ? DEVELOPMENT : PERMISSIVE;
  checked++;
  if (!isAllowed(READ_BY_HAND[`${manifest.name} ${licence}`] ?? licence, listed)) faults.push(`${path}: ${licence || 'names no licence'}`);
}

for (const fault of faults) console.error(fault);
console.log(`${checked} packages checked, ${faults.length} with a licence that is not allowed`);
process.exitCode = faults.length > 0 ? 1 : 0;
