import type { Check } from 'civic';
import type { Scout } from './context.ts';
import { rejectionOf, request, signedIn } from './instance.ts';
import { readSignIn } from './signin.ts';

/** Checks that the instance can be reached, and that the key or sign-in of this machine is valid there. */
export function instanceCheck({ civic }: Scout): Check {
  return {
    name: 'instance',
    async run() {
      const signIn = readSignIn(civic.instance.data_dir);
      const url = civic.config.instance.url?.replace(/\/+$/, '') ?? signIn?.url;
      if (!url) return { status: 'ok', detail: 'none: entries stay on this machine' };
      const { status, body } = await request(`${url}/health`);
      if (status !== 200 || body.status !== 'ok') return { status: 'failed', detail: `${url} does not respond as a Civic instance does (${status})`, fix: 'bin/scout config set instance.url <url>' };
      if (!signIn) return { status: 'warning', detail: `${url} responds, but scout is not signed in there`, fix: 'bin/scout login' };
      const response = await signedIn(civic.instance.data_dir, civic.config.instance.url).send('GET', '/api/discovery-runs?limit=1');
      if (response.status !== 200) return { status: 'failed', detail: rejectionOf(url, response), fix: 'bin/scout login' };
      return { status: 'ok', detail: `signed in at ${url} with ${signIn.kind === 'key' ? 'an API key' : 'a browser'}` };
    },
  };
}
