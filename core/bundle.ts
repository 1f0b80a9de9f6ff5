import { build, type Plugin } from 'esbuild';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { projectRoot } from './root.ts';

// Half of a start was loading some twelve hundred small modules. `bin/civic` runs these few large files instead; tests run the modules.

const DIST = join(projectRoot, 'dist');
const BUNDLE = join(DIST, 'bundle');
/** Modules that ask where the bundle itself is. */
const KNOW_THE_BUNDLE = ['core/root.js', 'core/resolve.js'];

/** The packages that every start loads. Others stay where they are: they are loaded when needed, or have files of their own beside their code. */
const PACKAGES = ['@hapi/boom', '@hapi/hapi', '@hapi/vision', 'convict', 'fastest-levenshtein', 'joi', 'knex', 'yaml'];
/** Drivers that Knex names and nobody has to install. */
const OTHER_DRIVERS = ['better-sqlite3', 'mariadb', 'mysql', 'mysql2', 'oracledb', 'pg-native', 'pg-query-stream', 'tedious'];
/** Packages in CommonJS call `require`, which an ES module does not have. */
const REQUIRE = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);`;

/** Writes `dist/bundle`: core, these plugins, and the packages of every start. Leaves no bundle when it fails, such as on a full disk, since `bin/civic` would run it. */
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
    external: [...otherPackages(), ...OTHER_DRIVERS],
    banner: { js: REQUIRE },
    alias: { civic: join(DIST, 'core/index.js') },
    sourcemap: true,
    sourcesContent: false,
    plugins: [ownPlaces],
    logLevel: 'error',
  });
}

function otherPackages(): string[] {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as Record<string, object>;
  return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).filter((name) => !PACKAGES.includes(name));
}

/** Keeps `import.meta` of each of our modules as it was: migrations, data and workers lie beside the module, not beside the bundle. */
const ownPlaces: Plugin = {
  name: 'own-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const name = relative(DIST, path);
      if (name.startsWith('..')) return null;
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
