import type { Example, Examples } from 'civic';

const REGISTER = 'POST /oauth/register';
const DEVICE = 'POST /oauth/device';
const CALLBACK = 'https://app.example/callback';
const client = { client: { of: REGISTER, take: '.client_id' } };
/** Of the verifier dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk in RFC 7636. */
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const ofToken: Example = { given: client, body: { client_id: '$client', token: 'an-unknown-token' } };

/** Requests for `/docs`. Each registers an app of its own. */
export function oauthExamples({ canRegister }: { canRegister: boolean }): Examples {
  if (!canRegister) return {};
  return {
    [REGISTER]: { body: { client_name: 'River reader', redirect_uris: [CALLBACK], grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'], token_endpoint_auth_method: 'none' } },
    'GET /oauth/register/{client_id}': {
      given: { app: { of: REGISTER, take: '.' }, client: { of: '$app', take: '.client_id' }, token: { of: '$app', take: '.registration_access_token' } },
      params: { client_id: '$client' },
      headers: { Authorization: 'Bearer $token' },
    },
    'GET /oauth/authorize': {
      given: client,
      query: { client_id: '$client', response_type: 'code', redirect_uri: CALLBACK, code_challenge: CHALLENGE, code_challenge_method: 'S256' },
      manual: 'The app opens this address in the browser of the user, who signs in and approves it.',
    },
    [DEVICE]: { given: client, body: { client_id: '$client' } },
    'POST /oauth/token': {
      given: { ...client, device: { of: DEVICE, take: '.device_code' } },
      body: { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id: '$client', device_code: '$device' },
      manual: 'The user must approve the app first: at /device with the user_code of the response to POST /oauth/device.',
    },
    'POST /oauth/revoke': ofToken,
    'POST /oauth/introspect': ofToken,
  };
}
