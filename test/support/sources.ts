import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot } from '../../core/root.ts';

const { sourcePosition } = createRequire(import.meta.url)(join(projectRoot, 'bin', 'stack.js')) as { sourcePosition(file: string, line: number, column: number): string | null };
const POSITION = /((?:file:\/\/)?\/[^\s()]+\.js):(\d+):(\d+)/g;

/** Returns what a test file wrote with positions in TypeScript sources instead of those in compiled files. */
export function nameSources(text: string): string {
  return text.replace(POSITION, (position, url: string, line: string, column: string) => sourcePosition(pathOf(url), Number(line), Number(column)) ?? position);
}

function pathOf(url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url) : url;
}
