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

const TYPES: Record<string, string> = { '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml', '.js': 'text/javascript; charset=utf-8' };

/**
 * The few files that pages need, held in memory: core's by their names, a plugin's as `accounts/passkeys`.
 * A file of the same name in the theme's folder follows or replaces ours.
 */
export function loadAssets(theme: string, pluginFolders: Record<string, string> = {}): Map<string, Asset> {
  const assets = new Map(assetsIn(FOLDER, theme, ''));
  for (const [plugin, folder] of Object.entries(pluginFolders)) {
    if (!existsSync(folder)) continue;
    for (const [name, asset] of assetsIn(folder, join(theme, plugin), `${plugin}/`)) assets.set(name, asset);
  }
  return assets;
}

function assetsIn(folder: string, theme: string, prefix: string): [name: string, asset: Asset][] {
  return readdirSync(folder).flatMap((file) => {
    const kind = extname(file);
    const type = TYPES[kind];
    if (type === undefined) return [];
    const body = withTheme(file, folder, theme);
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
    const name = prefix + file.slice(0, -kind.length);
    return [[name, { path: `/assets/${name}.${hash}${kind}`, type, body }]];
  });
}

/** An operator's style is added to ours, so that a theme can be three lines; anything else takes the place of ours. */
function withTheme(file: string, folder: string, theme: string): Buffer {
  const ours = readFileSync(join(folder, file));
  const theirs = join(theme, file);
  if (!existsSync(theirs)) return ours;
  return file.endsWith('.css') ? Buffer.concat([ours, Buffer.from('\n'), readFileSync(theirs)]) : readFileSync(theirs);
}
