import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../core/root.ts';

/** Copies this kit as it is built, without sources, so that nothing is built again, and without what no command reads. */
export function copyKit(root: string): void {
  for (const path of ['package.json', 'bin', 'config', 'templates', 'plugins', 'dist']) {
    cpSync(join(projectRoot, path), join(root, path), { recursive: true, filter: (file) => !/\/dist\/(test|bench)$|\/dist\/.*\/test$|\.d\.ts$|\/civic\.yaml$/.test(file) });
  }
  symlinkSync(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
}
