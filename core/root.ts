import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

function isProjectRoot(folder: string): boolean {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name === 'civic';
  } catch {
    return false;
  }
}

function findProjectRoot(): string {
  let folder = import.meta.dirname;
  while (!isProjectRoot(folder)) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`No package.json of civic above ${import.meta.dirname}`);
    folder = parent;
  }
  return folder;
}

/** The folder of the checkout or installed package, with `dist/`, `templates/` and `config/`. */
export const projectRoot = findProjectRoot();

export const version: string = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')).version;

/** Whether this is `dist/bundle`, which `bin/civic` runs, and not the single modules. */
export const isBundle = basename(import.meta.dirname) === 'bundle';
