import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { definePlugin } from 'civic';
import { testDatabases } from 'civic/testing';
import { accountsKit, type AccountsKit } from './kit.ts';
import { pageReader, type PageReader } from './reader.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

// At an address where passkeys cannot work a link signs in fully, so that these tests need none.
const HOME = 'http://192.0.2.7:8080/civic';

const counter = definePlugin({
  name: 'counter',
  summary: 'Counts for tests',
  uses: ['accounts'],
  limits: { calls: { label: 'Calls a day', doc: 'How many calls', plans: { individual: 20_000, team: 200_000 } } },
  register(_server, civic) {
    civic.serviceIfOn('accounts')!.meter('calls', async () => 1234);
  },
});

for (const database of testDatabases()) {
  describe(`The pages of an account on ${database}`, () => {
    let kit: AccountsKit;
    before(async () => { kit = await accountsKit({ database, plugins: [counter], config: { public_url: HOME } }); });
    after(() => kit.close());

    async function signedIn(options: Record<string, string> = {}): Promise<PageReader & { id: string }> {
      const { id, sign_in_link } = await kit.run('account create', { name: 'Ada Example', plan: 'team', role: 'user', ...options });
      const reader = pageReader(kit);
      expect((await reader.follow(sign_in_link)).headers.location).to.equal('/civic/account');
      return Object.assign(reader, { id });
    }

    it('say that passkeys cannot work at a bare address, and open by link alone', async () => {
      const reader = await signedIn();
      expect((await reader.get('/account/passkeys')).text).to.contain('192.0.2.7 is an address');
      expect((await pageReader(kit).get('/sign-in')).text).to.contain('192.0.2.7 is an address').and.not.contain('Sign in with a passkey');
    });

    it('show in the header of every page who is signed in, and keep that to themselves', async () => {
      const reader = await signedIn({ name: 'Zoë <b>' });
      for (const path of ['/', '/docs', '/problems', '/nowhere', '/account']) {
        const { text, headers } = await reader.get(path);
        expect(text, path).to.contain('Zoë &lt;b&gt;').and.contain('action="/civic/sign-out"');
        expect(headers['cache-control'], path).to.contain('no-store');
        expect((await pageReader(kit).get(path)).text, path).to.not.contain('Zoë');
      }
      expect((await pageReader(kit).get('/docs?a=1&b=2')).text, 'and the way back').to.contain('/civic/sign-in?next=%2Fdocs%3Fa%3D1%26b%3D2"');
    });

    it('change the profile, and say beside the field what is wrong with it', async () => {
      const ada = await signedIn();
      expect((await ada.post('/account', { name: ' Ada L. ' })).headers.location).to.equal('/civic/account?done=saved');
      expect((await ada.get('/account?done=saved')).text).to.contain('value="Ada L."').and.contain('Your profile is saved.');
      const wrong = await ada.post('/account', { name: '' });
      expect([wrong.status, /id="name-error">([^<]+)/.exec(wrong.text)?.[1]]).to.equal([400, 'Give a name.']);
      const noAddress = await ada.post('/account/email', { email: 'nonsense' });
      expect([noAddress.status, /id="email-error">([^<]+)/.exec(noAddress.text)?.[1]]).to.equal([400, 'This is no e-mail address: it looks like name@example.org.']);
      expect(noAddress.text).to.match(/id="email"[^>]+ autofocus aria-invalid="true" aria-describedby="email-error"/);
    });

    it('make an API key that works, show it once, and revoke it for good', async () => {
      const reader = await signedIn();
      const workspace = /name="workspace" value="([^"]+)"/.exec((await reader.get('/account/keys')).text)![1]!;
      const unnamed = await reader.post('/account/keys', { name: ' ', workspace, lives: '30' });
      expect([unnamed.status, unnamed.text.includes('Give a name.'), unnamed.text.includes('Choose at least one thing')]).to.equal([400, true, true]);
      const made = await reader.post('/account/keys', { name: 'Nightly', workspace, lives: '30', scopes: ['probe:read', 'probe:write'] });
      const key = /id="key">([^<]+)/.exec(made.text)![1]!;
      expect(made.headers['cache-control']).to.contain('no-store');
      expect((await kit.as(key, 'GET', '/api/probe/private')).body.caller).to.include({ account_id: reader.id, scope: ['probe:read', 'probe:write'] });
      const listed = (await reader.get('/account/keys')).text;
      expect(listed).to.contain('Nightly').and.not.contain(key);
      const id = key.slice(6, 14);
      const stranger = await signedIn();
      for (const method of ['get', 'post'] as const) expect((await stranger[method](`/account/keys/${id}/revoke`)).status).to.equal(404);
      expect((await reader.get(`/account/keys/${id}/revoke`)).text).to.contain('This cannot be undone');
      expect((await kit.as(key, 'GET', '/api/probe/private')).status, 'asking is not revoking').to.equal(200);
      await reader.post(`/account/keys/${id}/revoke`);
      expect((await kit.as(key, 'GET', '/api/probe/private')).status).to.equal(401);
    });

    it('give no key beyond the plan, the role or the workspaces of their reader', async () => {
      const reader = await signedIn();
      const workspace = /name="workspace" value="([^"]+)"/.exec((await reader.get('/account/keys')).text)![1]!;
      expect((await reader.post('/account/keys', { name: 'x', workspace, scopes: ['probe:review'] })).status).to.equal(400);
      expect((await reader.post('/account/keys', { name: 'x', workspace: '01890000-0000-7000-8000-00000000000a', scopes: ['probe:read'] })).status).to.equal(400);
      const free = await signedIn({ plan: 'free' });
      expect((await free.get('/account/keys')).text).to.contain('The plan free has no API keys').and.not.contain('Create key');
      expect((await free.post('/account/keys', { name: 'x', workspace, scopes: ['probe:read'] })).status).to.equal(403);
    });

    it('create a workspace, invite a person by link, and let its owner manage the members', async () => {
      const [ada, bo] = [await signedIn(), await signedIn({ name: 'Bo' })];
      const path = (await ada.post('/account/workspaces', { name: 'Harlow Watch' })).headers.location!.toString().slice('/civic'.length).split('?')[0]!;
      expect((await bo.get(path)).status, 'not theirs yet').to.equal(404);
      const link = /id="invitation">([^<]+)/.exec((await ada.post(`${path}/invitations`, { role: 'reviewer' })).text)![1]!.replace('&#x3D;', '=');
      const at = link.slice(HOME.length);
      expect((await pageReader(kit).get(at)).headers.location, 'sign in first').to.contain('/civic/sign-in?next=%2Finvitations');
      expect((await ada.get(at)).text).to.contain('You belong to this workspace already');
      expect((await bo.get(at)).text).to.contain('Join Harlow Watch').and.contain('reviewer');
      const token = new URL(link).searchParams.get('token')!;
      expect((await bo.post('/invitations', { token })).headers.location).to.equal(`/civic${path}?done=joined`);
      expect((await bo.get('/account')).text, 'the chooser').to.match(/<option value="[^"]+" selected>Harlow Watch/);
      expect((await (await signedIn()).get(at)).status, 'one person only').to.equal(410);
      expect((await bo.post(`${path}/invitations`, { role: 'member' })).status, 'reviewers invite nobody').to.equal(403);
      expect((await bo.post(`${path}/members/${ada.id}/remove`)).status).to.equal(403);
      await ada.post(`${path}/members/${bo.id}/role`, { role: 'admin' });
      expect((await bo.post(`${path}/members/${ada.id}/role`, { role: 'member' })).status, 'an owner stands above').to.equal(403);
      await ada.post(`${path}/members/${bo.id}/remove`);
      expect((await bo.get(path)).status).to.equal(404);
    });

    it('make a workspace that a key in use may speak for at once', async () => {
      const ada = await signedIn();
      const { key } = await kit.run('key create', { account: ada.id });
      expect((await kit.as(key, 'GET', '/api/probe/private')).status).to.equal(200);
      const made = /[0-9a-f-]{36}/.exec(String((await ada.post('/account/workspaces', { name: 'Fresh' })).headers.location))![0];
      expect((await kit.as(key, 'GET', '/api/probe/private', { headers: { 'x-workspace-id': made } })).body.caller?.workspace_id).to.equal(made);
    });

    it('return users to the page that asked them to sign in', async () => {
      const { text } = await pageReader(kit).get('/problems?a=1&b=%26c');
      expect(/href="([^"]*)">Sign in</.exec(text)?.[1]).to.equal(`/civic/sign-in?next=${encodeURIComponent('/problems?a=1&b=%26c')}`);
    });

    it('choose a workspace among one\'s own', async () => {
      const [ada, bo] = [await signedIn(), await signedIn()];
      const id = (await ada.post('/account/workspaces', { name: 'Second' })).headers.location!.toString().split('/').at(-1)!.split('?')[0]!;
      expect((await ada.post('/account/workspaces/choose', { workspace: id, next: '/docs' })).headers.location).to.equal('/civic/docs');
      expect((await ada.get('/account/workspaces')).text).to.match(/Second<\/a> <span class="tag">chosen/);
      expect((await bo.post('/account/workspaces/choose', { workspace: id })).status).to.equal(403);
    });

    it('draw what was used and name the limits of every plan', async () => {
      const reader = await signedIn();
      const { text } = await reader.get('/account/plan');
      expect(text).to.contain(['<strong>1,234</strong> of 200,000', 'Calls a day', '<strong>0</strong> of 20', 'Research pass']);
      expect(text).to.not.contain('5 a month').and.not.contain('Price');
    });
  });
}

describe('Prices', () => {
  it('are on the page of plans when the operator turns them on', async () => {
    const kit = await accountsKit({ config: { public_url: HOME, plugins: { accounts: { show_prices: true } } } });
    try {
      const reader = pageReader(kit);
      await reader.follow((await kit.run('account create', { name: 'Ada' })).sign_in_link);
      expect((await reader.get('/account/plan')).text).to.contain(['Price', '5 a month', 'by seat']);
    } finally {
      await kit.close();
    }
  });
});

describe('The first administrator', () => {
  it('gets advice about a lost link, as long as there is no account', async () => {
    const kit = await accountsKit({ config: { public_url: HOME } });
    try {
      const told = async () => [(await pageReader(kit).get('/sign-in')).text, (await pageReader(kit).get('/sign-in/link?token=lost')).text];
      for (const text of await told()) expect(text).to.contain(['This instance has no account yet', 'bin/civic account create']);
      await kit.run('account create', { name: 'Ada' });
      for (const text of await told()) expect(text).to.not.contain('account create');
    } finally {
      await kit.close();
    }
  });

  it('is created by the first use of a link that starting servers print, and by no later use', async () => {
    const printed: string[] = [];
    const { write } = process.stderr;
    process.stderr.write = ((text: string) => { printed.push(text); return true; }) as never;
    const kit = await accountsKit({ listen: true, config: { public_url: HOME } }).finally(() => { process.stderr.write = write; });
    try {
      const link = /http:\S+/.exec(printed.join(''))![0];
      expect((await pageReader(kit).follow(link, { name: '' })).text, 'a name is needed').to.contain('Give a name.');
      const reader = pageReader(kit);
      expect((await reader.follow(link, { name: 'Ada' })).headers.location).to.equal('/civic/account');
      expect((await reader.get('/account')).text).to.contain('<dd>admin</dd>');
      expect((await reader.get('/account/plan')).text).to.contain('<strong>Team</strong>');
      expect((await pageReader(kit).follow(link, { name: 'Eve' })).status).to.equal(410);
      expect(await kit.run('account list')).to.have.length(1);
    } finally {
      await kit.close();
    }
  });
});
