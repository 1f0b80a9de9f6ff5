// Writes sbom.cdx.json, a CycloneDX bill of materials of what runs in production, from the lock file and without the network.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const target = resolve(process.argv[2] ?? join(root, 'sbom.cdx.json'));
const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));

const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only', '--offline'], { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: ['ignore', 'pipe', 'inherit'] });
const sbom = JSON.parse(text);

// `npm sbom --omit dev` also leaves out packages that production shares with development tools; the lock file tells them apart.
const production = new Set(Object.entries(read('package-lock.json').packages).filter(([path, { dev }]) => path && !dev)
  .map(([path, { name, version }]) => `${name ?? path.split('node_modules/').pop()}@${version}`));
const isKept = (ref) => production.has(ref) || ref === sbom.metadata.component['bom-ref'];
sbom.components = sbom.components.filter((component) => production.has(component['bom-ref'])).map((component) => ({
  ...component,
  scope: 'required',
  properties: component.properties?.filter(({ name }) => name !== 'cdx:npm:package:development'),
}));
sbom.dependencies = sbom.dependencies.filter(({ ref }) => isKept(ref)).map((one) => ({ ...one, dependsOn: one.dependsOn?.filter(isKept) }));
// npm calls the project by the name of its folder.
sbom.metadata.component.name = read('package.json').name;

writeFileSync(target, `${JSON.stringify(sbom, null, 2)}\n`);
console.log(`Wrote ${target}: ${sbom.components.length} components`);
