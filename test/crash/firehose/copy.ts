import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { projectRoot } from '../../../core/root.ts';

/** A text of the compiled kit, and what stands in its place. */
export interface Replacement {
  /** Below `dist/`. */
  file: string;
  text: string;
  by: string;
}

/** A copy of the kit as it would be deployed, with some of its text replaced. */
export interface Copy {
  root: string;
  remove(): void;
}

/** Fails when a text is not there exactly once, so that a bug that is planted in vain is noticed. */
export function copyKit(replacements: Replacement[]): Copy {
  const root = mkdtempSync(join(tmpdir(), 'civic-copy-'));
  const isCode = (path: string): boolean => !path.endsWith('.map') && !path.endsWith('.d.ts') && !relative(projectRoot, path).split(sep).includes('bench');
  // Without the bundle `bin/civic` runs the modules, in which texts are replaced.
  const isBundle = (path: string): boolean => path === join(projectRoot, 'dist/bundle');
  cpSync(join(projectRoot, 'dist'), join(root, 'dist'), { recursive: true, filter: (path) => isCode(path) && !isBundle(path) });
  cpSync(join(projectRoot, 'bin'), join(root, 'bin'), { recursive: true });
  // Without tsconfig.json nothing is built anew.
  cpSync(join(projectRoot, 'package.json'), join(root, 'package.json'));
  for (const name of ['node_modules', 'plugins', 'templates', 'config', 'contracts']) symlinkSync(join(projectRoot, name), join(root, name));
  const remove = (): void => rmSync(root, { recursive: true, force: true });
  for (const { file, text, by } of replacements) {
    const path = join(root, 'dist', file);
    const code = readFileSync(path, 'utf8');
    const found = code.split(text).length - 1;
    if (found !== 1) {
      remove();
      throw new Error(`dist/${file} has this ${found} times, not once: ${text}`);
    }
    writeFileSync(path, code.replace(text, () => by));
  }
  return { root, remove };
}
