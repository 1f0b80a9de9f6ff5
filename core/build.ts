import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.ts';
import { writeListing } from './cli/describe.ts';
import { bundledPlugins } from './load.ts';
import { projectRoot } from './root.ts';

/** What a plugin's `build.ts` exports. `previous` is the plugin's folder of the build before, for files that are still right. */
interface PluginBuild {
  build(previous: string): Promise<void>;
}

// The last step of a build, run by bin/bootstrap/build.js with the folder of the build before: writes what starts would compute otherwise.
const [previous = ''] = process.argv.slice(2);
const fileOf = (plugin: string, name: string): string => join(projectRoot, 'dist/plugins', plugin, name);
const compiled = bundledPlugins().filter((plugin) => existsSync(fileOf(plugin, 'index.js')));
for (const plugin of compiled.filter((name) => existsSync(fileOf(name, 'build.js')))) {
  const { build } = await import(pathToFileURL(fileOf(plugin, 'build.js')).href) as PluginBuild;
  await build(join(previous, 'plugins', plugin));
}
await writeListing(compiled);
await bundle(compiled).catch((error: Error) => { process.stderr.write(`dist/ is not bundled, so starts take longer: ${error.message}\n`); });
