import { build, type Plugin } from 'esbuild';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { projectRoot } from './root.ts';

// Half of a start was loading some five hundred small modules. `bin/civic` runs these few large files instead; tests run the modules.

const DIST = join(projectRoot, 'dist');
const BUNDLE = join(DIST, 'bundle');
/** Modules that ask where the bundle itself is. */
const KNOW_THE_BUNDLE = ['core/root.js', 'core/resolve.js'];

/** Writes `dist/bundle`: core and these plugins, without packages. Leaves no bundle when it fails, such as on a full disk, since `bin/civic` would run it. */
export async function bundle(plugins: string[]): Promise<void> {
  try {
    await write(plugins);
  } catch (error) {
    rmSync(BUNDLE, { recursive: true, force: true });
    throw error;
  }
}

/** All files are in one folder, and each module is in one of them. */
async function write(plugins: string[]): Promise<void> {
  const entries = plugins.map((name) => [`plugin-${name}`, join(DIST, 'plugins', name, 'index.js')]);
  await build({
    entryPoints: {
      main: join(DIST, 'core/cli/main.js'),
      index: join(DIST, 'core/index.js'),
      resolve: join(DIST, 'core/resolve.js'),
      ...Object.fromEntries(entries),
    },
    outdir: BUNDLE,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    alias: { civic: join(DIST, 'core/index.js') },
    sourcemap: true,
    sourcesContent: false,
    plugins: [ownPlaces],
    logLevel: 'error',
  });
}

/** Keeps `import.meta` of each module as it was: migrations, data and workers lie beside the module, not beside the bundle. */
const ownPlaces: Plugin = {
  name: 'own-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const name = relative(DIST, path);
      const text = readFileSync(path, 'utf8');
      return { contents: KNOW_THE_BUNDLE.includes(name) ? text : withOwnPlace(text, name), loader: 'js' };
    });
  },
};

function withOwnPlace(text: string, name: string): string {
  return text
    .replaceAll('import.meta.dirname', `(import.meta.dirname + ${JSON.stringify(`/../${dirname(name)}`)})`)
    .replaceAll('import.meta.url', `new URL(${JSON.stringify(`../${name}`)}, import.meta.url).href`);
}
