import { build, type Plugin } from 'esbuild';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { projectRoot } from './root.ts';

// Loading some twelve hundred small modules took half of the time of a start, so `bin/civic` runs a few large files. Tests run the modules.

const DIST = join(projectRoot, 'dist');
const BUNDLE = join(DIST, 'bundle');
/** Modules whose `import.meta` must be that of the bundle. */
const UNCHANGED = ['core/root.js', 'core/resolve.js'];

/**
 * The packages that every start loads, and the large ones that load once the server listens: a bundled one takes a third of the time and
 * half of the memory. Others are not bundled: they read files beside their code, or are CommonJS, of which `import()` would have no names.
 */
const PACKAGES = [
  '@hapi/boom', '@hapi/hapi', '@hapi/vision', 'convict', 'fastest-levenshtein', 'joi', 'knex', 'yaml',
  '@modelcontextprotocol/sdk', '@modelcontextprotocol/server', '@simplewebauthn/server', 'ajv', 'ajv-formats', 'oidc-provider',
];
/** Optional drivers that Knex imports and that are not installed. */
const OTHER_DRIVERS = ['better-sqlite3', 'mariadb', 'mysql', 'mysql2', 'oracledb', 'pg-native', 'pg-query-stream', 'tedious'];
/** Defines `require` for CommonJS packages: an ES module has none. */
const REQUIRE = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);`;

/** Writes `dist/bundle`: core, these plugins and programs, and the packages of every start. Deletes an incomplete bundle, such as after a full disk, because `bin/civic` would run it. */
export async function bundle(plugins: string[], programs: string[] = []): Promise<void> {
  try {
    await writeBundle(plugins, programs);
  } catch (error) {
    rmSync(BUNDLE, { recursive: true, force: true });
    throw error;
  }
}

/** Writes one flat folder; each module is in exactly one of its files. */
async function writeBundle(plugins: string[], programs: string[]): Promise<void> {
  const entries = [
    ...plugins.map((name) => [`plugin-${name}`, join(DIST, 'plugins', name, 'index.js')]),
    ...programs.map((name) => [`program-${name}`, join(DIST, 'plugins', name, 'program.js')]),
  ];
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
    plugins: [originalPaths],
    logLevel: 'error',
  });
}

function otherPackages(): string[] {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as Record<string, object>;
  return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).filter((name) => !PACKAGES.includes(name));
}

/** Makes `import.meta` of each module of the kit point at its file in `dist`, because migrations, data and workers are beside that file and not in the bundle. */
const originalPaths: Plugin = {
  name: 'original-paths',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const name = relative(DIST, path);
      if (name.startsWith('..')) return null;
      const text = readFileSync(path, 'utf8');
      return { contents: UNCHANGED.includes(name) ? text : withOriginalPath(text, name), loader: 'js' };
    });
  },
};

function withOriginalPath(text: string, name: string): string {
  return text
    .replaceAll('import.meta.dirname', `(import.meta.dirname + ${JSON.stringify(`/../${dirname(name)}`)})`)
    .replaceAll('import.meta.url', `new URL(${JSON.stringify(`../${name}`)}, import.meta.url).href`);
}
