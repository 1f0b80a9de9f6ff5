import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { readConfigText, type ConfigDocument } from '../config/load.ts';
import { writeMeta } from '../database/meta.ts';
import { defaultPlugins, newDefaults, rememberDefaults } from '../defaults.ts';
import { projectRoot } from '../root.ts';
import { testDatabases, testServer, type TestServer } from '../testing.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

function file(text: string, env: Record<string, string> = {}): ConfigDocument {
  return readConfigText(text, 'civic.yaml', { env, args: {}, root: projectRoot });
}

const [first, ...others] = defaultPlugins();
const rest = others.slice(0, -1);
const added = others.at(-1)!;

for (const database of testDatabases()) {
  describe(`Default plugins that an upgrade brings, on ${database}`, () => {
    let kit: TestServer;
    before(async () => { kit = await testServer({ plugins: [], database }); });
    after(() => kit.close());

    it('are none at the first start, whatever the file names', async () => {
      const document = file(`plugins:\n  ${first}:\n`);
      expect(await newDefaults(kit.db.read, document)).to.equal([]);
      await rememberDefaults(kit.db, document);
      expect(await newDefaults(kit.db.read, document)).to.equal([]);
    });

    it('are named at every start until the configuration names or declines them', async () => {
      await kit.db.write((tx) => writeMeta(tx, 'default_plugins', [first, ...rest]));
      const silent = file(`plugins:\n  ${first}:\n`);
      for (let start = 0; start < 2; start++) {
        expect(await newDefaults(kit.db.read, silent)).to.equal([added]);
        await rememberDefaults(kit.db, silent);
      }
      for (const decided of [file(`plugins:\n  ${added}:\n`), file(`plugins:\n  ${added}:\n    enabled: false\n`), file('', { [`CIVIC_PLUGINS_${added.toUpperCase()}_ENABLED`]: 'false' })]) {
        expect(await newDefaults(kit.db.read, decided)).to.equal([]);
      }
      expect(await newDefaults(kit.db.read, silent), 'looking does not record').to.equal([added]);
    });

    it('are not named again once they were declined and the line is gone', async () => {
      await rememberDefaults(kit.db, file(`plugins:\n  ${added}:\n    enabled: false\n`));
      expect(await newDefaults(kit.db.read, file('plugins:\n'))).to.equal([]);
    });
  });
}
