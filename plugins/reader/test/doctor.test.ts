import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { testServer } from 'civic/testing';
import { missingChromium } from './chromium.ts';

export const lab = Lab.script();
const { describe, it } = lab;

const isRoot = process.getuid?.() === 0;

async function finding(reader: object): Promise<{ status: string; detail: string; fix?: string }> {
  const kit = await testServer({ plugins: ['reader'], config: { plugins: { reader } }, open: false });
  try {
    return await kit.composition.checks.find(({ plugin, name }) => plugin === 'reader' && name === 'browser')!.run();
  } finally {
    await kit.close();
  }
}

describe('doctor on the browser', () => {
  it('states why none is used', async () => {
    expect(await finding({ browser_fallback_enabled: false })).to.equal({ status: 'ok', detail: 'pages that need scripts are not read: browser_fallback_enabled is false' });
    const { PATH } = process.env;
    process.env.PATH = '/nowhere';
    try {
      expect(await finding({})).to.equal({ status: 'ok', detail: 'pages that need scripts are not read: no Chromium was found; to read them, install the package chromium, or set plugins.reader.browser_path' });
    } finally {
      process.env.PATH = PATH;
    }
  });

  it('names the fix when the chosen one cannot be used', async () => {
    const missing = await finding({ browser_path: '/nowhere/chromium', browser_sandbox: false });
    expect(missing).to.include({ status: 'warning', detail: 'pages that need scripts are not read: /nowhere/chromium is no program that can be run' });
    expect(missing.fix).to.contain('plugins.reader.browser_path');
    const wrong = await finding({ browser_path: '/bin/true', browser_sandbox: false });
    expect(wrong).to.include({ status: 'warning' });
    expect(wrong.detail).to.contain('/bin/true does not start');
    expect(wrong.fix).to.contain('plugins.reader.browser_sandbox');
  });

  it('requires another user than root, or the consent of the operator', { skip: !isRoot }, async () => {
    const { status, fix } = await finding({ browser_path: '/bin/true' });
    expect(status).to.equal('warning');
    expect(fix).to.match(/^run the server as another user/);
  });

  it('names the version of the one that is used', { skip: missingChromium() !== null }, async () => {
    const { status, detail } = await finding({ browser_path: process.env.CIVIC_TEST_CHROMIUM ?? null, browser_sandbox: false });
    expect(status).to.equal('ok');
    expect(detail).to.match(/^pages that need scripts are read with \S+\/[\d.]+, without its sandbox$/);
  });
});
