import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecretFile } from '../secret.ts';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

describe('createSecretFile', () => {
  let folder: string;
  beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'civic-secret-')); });
  afterEach(() => { rmSync(folder, { recursive: true }); });

  const create = (path: string) => createSecretFile({ path, label: 'The key', option: 'plugins.x.key' });

  it('creates folder and file for the owner alone, and leaves no draft', () => {
    const data = join(folder, 'data');
    create(join(data, 'x.key'));
    expect(readFileSync(join(data, 'x.key'), 'utf8')).to.match(/^[0-9a-f]{64}\n$/);
    expect([statSync(data).mode & 0o777, statSync(join(data, 'x.key')).mode & 0o777]).to.equal([0o700, 0o600]);
    expect(readdirSync(data)).to.equal(['x.key']);
  });

  it('keeps an existing file', () => {
    writeFileSync(join(folder, 'x.key'), 'existing');
    create(join(folder, 'x.key'));
    expect(readFileSync(join(folder, 'x.key'), 'utf8')).to.equal('existing');
  });

  it('names the file and the option when the file cannot be created', () => {
    writeFileSync(join(folder, 'file'), '');
    for (const path of ['file/x.key', 'file/data/x.key']) expect(() => create(join(folder, path)), path).to.throw(Error, /^The key cannot be stored in .*x\.key \(.*\): make the data folder writable, or set plugins\.x\.key$/);
  });
});
