import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin, type Plugin } from 'civic';
import { testServer } from 'civic/testing';

export const lab = Lab.script();
const { describe, it } = lab;

const started = (plans: object, plugins: (Plugin | string)[] = []) => testServer({ plugins: ['accounts', ...plugins], config: { plugins: { accounts: { plans, default_plan: 'free' } } }, open: false });
const declaring = (limit: string) => definePlugin({ name: 'counter', summary: 'Counts', uses: ['accounts'], limits: { [limit]: { label: 'Calls', doc: 'How many calls' } }, register: () => undefined });

describe('The option plans', () => {
  it('rejects a misspelt limit with the nearest one, and a limit that no plugin declares', async () => {
    await expect(started({ free: { kyes: 2 } })).to.reject(/plans\.free\.kyes is not known[^]*did you mean keys\?/);
    await expect(started({ free: { requests_per_minuet: 2 } }, ['ratelimit'])).to.reject(/did you mean requests_per_minute\?/);
    await expect(started({ free: { herons: 2 } })).to.reject(/plans\.free\.herons is not known/);
    await expect(started({ free: { keys: 1_000_000_001 } })).to.reject(/from 0 to 1000000000/);
  });

  it('keeps the limits of plugins of the kit that are off, and does not show them', async () => {
    const { composition } = await started({ free: { keys: 2, streams: 5, requests_per_day: 10 } });
    expect(Object.keys((composition.openApi() as any).components.schemas.Plan.properties)).to.equal(['name', 'price', 'keys', 'days', 'capabilities']);
  });
});

describe('A limit', () => {
  it('cannot be called like a member of a plan', async () => {
    await expect(started({ free: {} }, [declaring('days')])).to.reject(/The plugin counter declares the limit "days", which is a member of every plan/);
  });

  it('has a meter only when it is declared', async () => {
    const metering = definePlugin({ name: 'metering', summary: 'Meters', uses: ['accounts'], register: (_server, civic) => civic.serviceIfOn('accounts')!.meter('nosuch', async () => 1) });
    await expect(started({ free: {} }, [metering])).to.reject(/No plugin that runs declares the limit "nosuch"/);
  });
});
