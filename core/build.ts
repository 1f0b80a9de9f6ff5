import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.ts';
import { writeListing } from './cli/describe.ts';
import { bundledPlugins, loadProgram, pluginsWithProgram } from './load.ts';
import { projectRoot } from './root.ts';

/** The export of a plugin's `build.ts`. `previous` is the plugin's folder in the previous build, to copy files that are still valid. */
interface PluginBuild {
  build(previous: string): Promise<void>;
}

// The last step of a build: writes files that each start would have to compute. bin/bootstrap/build.js passes the folder of the previous build.
const [previous = ''] = process.argv.slice(2);
const fileOf = (plugin: string, name: string): string => join(projectRoot, 'dist/plugins', plugin, name);
const programs = pluginsWithProgram();
const compiled = bundledPlugins().filter((plugin) => existsSync(fileOf(plugin, 'index.js')));
for (const plugin of compiled.filter((name) => existsSync(fileOf(name, 'build.js')))) {
  const { build } = await import(pathToFileURL(fileOf(plugin, 'build.js')).href) as PluginBuild;
  await build(join(previous, 'plugins', plugin));
}
await writeListing(compiled, await Promise.all(programs.map(loadProgram)));
await bundle([...compiled, ...programs], programs).catch((error: Error) => { process.stderr.write(`dist/ is not bundled, so starts take longer: ${error.message}\n`); });
