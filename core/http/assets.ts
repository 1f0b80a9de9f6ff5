import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { projectRoot } from '../root.ts';

export interface Asset {
  /** The path it is served at; changes with its content, so it may be kept for ever. */
  path: string;
  type: string;
  body: Buffer;
}

const FOLDER = join(projectRoot, 'templates/assets');

const TYPES: Record<string, string> = { '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml' };

/** The few files every page needs, held in memory. A file of the same name in the theme's folder follows or replaces ours. */
export function loadAssets(theme: string): Map<string, Asset> {
  const assets = new Map<string, Asset>();
  for (const file of readdirSync(FOLDER)) {
    const kind = extname(file);
    const type = TYPES[kind];
    if (type === undefined) continue;
    const body = withTheme(file, theme);
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
    assets.set(file.slice(0, -kind.length), { path: `/assets/${file.slice(0, -kind.length)}.${hash}${kind}`, type, body });
  }
  return assets;
}

/** An operator's style is added to ours, so that a theme can be three lines; anything else takes the place of ours. */
function withTheme(file: string, theme: string): Buffer {
  const ours = readFileSync(join(FOLDER, file));
  const theirs = join(theme, file);
  if (!existsSync(theirs)) return ours;
  return file.endsWith('.css') ? Buffer.concat([ours, Buffer.from('\n'), readFileSync(theirs)]) : readFileSync(theirs);
}
