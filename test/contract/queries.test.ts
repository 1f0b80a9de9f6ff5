import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import type { ObjectSchema } from 'joi';
import { bundledPlugins } from '../../core/load.ts';
import { testServer, type TestServer } from '../../core/testing.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const WRONG: Record<string, string[]> = {
  number: ['1e1', '+5', '05', ' 5', '5.0', ''],
  boolean: ['TRUE', '1', ''],
  string: [''],
  array: [''],
};

describe('Query parameters of the API', () => {
  let kit: TestServer;
  before(async () => { kit = await testServer({ plugins: bundledPlugins(), open: false }); });
  after(() => kit.close());

  it('accept one spelling of a value on every route of every plugin', () => {
    const accepted: string[] = [];
    let checked = 0;
    for (const { method, path, settings } of kit.server.table()) {
      const schema = settings.validate?.query as ObjectSchema | undefined;
      if (!path.startsWith('/api/') || settings.plugins?.civic?.internal || !schema) continue;
      for (const [name, { type }] of Object.entries((schema.describe() as { keys?: Record<string, { type: string }> }).keys ?? {})) {
        for (const value of WRONG[type] ?? []) {
          checked += 1;
          const { error } = schema.validate({ [name]: value }, { abortEarly: false });
          if (!error?.details.some(({ path: [at] }) => at === name)) accepted.push(`${method} ${path}?${name}=${value}`);
        }
      }
    }
    expect(accepted).to.equal([]);
    expect(checked).to.be.above(100);
  });
});
