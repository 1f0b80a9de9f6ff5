import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../core/root.ts';

export const notQuick = 'it starts processes';
export const lab = Lab.script();
const { after, before, describe, it } = lab;

let folder: string;
before(() => { folder = mkdtempSync(join(tmpdir(), 'civic-licences-')); });
after(() => { rmSync(folder, { recursive: true, force: true }); });

function check(root?: string): { code: number | null; stderr: string; stdout: string } {
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(projectRoot, '.ci/licences.js'), ...(root ? [root] : [])], { encoding: 'utf8' });
  return { code: status, stderr, stdout };
}

describe('The licence check', () => {
  it('allows every installed package', () => {
    const { code, stderr, stdout } = check();
    expect(stderr).to.equal('');
    expect(Number(/^\d+/.exec(stdout)?.[0])).to.be.above(50);
    expect(code).to.equal(0);
  });

  it('rejects a licence that is unknown, missing, or for development only', () => {
    const manifests: Record<string, object> = {
      free: { license: 'MIT' }, old: { licenses: [{ type: 'ISC' }] }, choice: { license: '(GPL-3.0-only OR MIT)' },
      copyleft: { license: 'AGPL-3.0-only' }, both: { license: 'MIT AND GPL-3.0-only' }, silent: {}, tool: { license: 'MPL-2.0' }, odd: { license: 'SEE LICENSE IN FILE' },
    };
    for (const [name, manifest] of Object.entries(manifests)) {
      mkdirSync(join(folder, 'node_modules', name), { recursive: true });
      writeFileSync(join(folder, 'node_modules', name, 'package.json'), JSON.stringify({ name, ...manifest }));
    }
    const packages = Object.fromEntries(Object.keys(manifests).map((name) => [`node_modules/${name}`, {}]));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages, 'node_modules/absent': {}, 'node_modules/elsewhere': { optional: true } } }));
    const { code, stderr } = check(folder);
    expect(code).to.equal(1);
    expect(stderr.trim().split('\n').toSorted()).to.equal([
      'node_modules/absent is not installed', 'node_modules/both: MIT AND GPL-3.0-only', 'node_modules/copyleft: AGPL-3.0-only',
      'node_modules/odd: SEE LICENSE IN FILE', 'node_modules/silent: names no licence', 'node_modules/tool: MPL-2.0',
    ]);
  });
});

describe('The bill of materials', () => {
  it('names every package that runs in production, without the network', () => {
    const file = join(folder, 'sbom.json');
    const { status, stderr } = spawnSync(process.execPath, [join(projectRoot, '.ci/sbom.js'), file], { encoding: 'utf8', env: { ...process.env, npm_config_registry: 'http://127.0.0.1:1/' } });
    expect(status, stderr).to.equal(0);
    const sbom = JSON.parse(readFileSync(file, 'utf8')) as { bomFormat: string; metadata: { component: { name: string } }; components: { name: string; purl: string }[] };
    expect(sbom.bomFormat).to.equal('CycloneDX');
    expect(sbom.metadata.component.name).to.equal('civic');
    const { dependencies } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
    const purls = sbom.components.map(({ purl }) => decodeURIComponent(purl));
    expect(Object.entries(dependencies).map(([name, version]) => `pkg:npm/${name}@${version}`).filter((purl) => !purls.includes(purl))).to.equal([]);
    expect(purls.some((purl) => purl.includes('/@hapi/lab@'))).to.be.false();
  });
});
