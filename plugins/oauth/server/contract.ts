import { Joi, type ProtocolDeclaration } from 'civic';

/** The description of an endpoint of the library in OpenAPI. */
export interface EndpointContract {
  description: string;
  notes: string;
  protocol: ProtocolDeclaration;
}

const text = (description: string): Joi.StringSchema => Joi.string().description(description);

const error = Joi.object({
  error: text('The error code of RFC 6749 or of its extensions').required(),
  error_description: Joi.string(),
}).unknown().meta({ name: 'OauthError' });

/** The responses to programs that every endpoint can have. */
const FAILURES = { 400: error, 413: error, 415: error, 429: error, 500: error, 503: error };

const client = {
  client_id: text('The app. Not with HTTP Basic'),
  client_secret: text('For apps with the method client_secret_post'),
  client_assertion_type: text('For apps with the method private_key_jwt'),
  client_assertion: text('For apps with the method private_key_jwt'),
};
const scope = text('Scopes, separated by spaces; all of the resource when absent');
const resource = text('The resource of the token (RFC 8707), such as the address of /mcp');

const tokens = Joi.object({
  access_token: Joi.string().required(),
  token_type: Joi.string().valid('Bearer').required(),
  expires_in: Joi.number().integer().required().description('Seconds'),
  refresh_token: Joi.string(),
  scope: Joi.string(),
  id_token: text('With the scope openid'),
}).unknown().meta({ name: 'OauthTokens' });

const registration = Joi.object({
  client_name: text('The name on the consent page'),
  redirect_uris: Joi.array().items(Joi.string()).description('https addresses, loopback addresses, or those of an app with a private scheme'),
  grant_types: Joi.array().items(Joi.string()),
  response_types: Joi.array().items(Joi.string()),
  token_endpoint_auth_method: Joi.string(),
}).unknown().meta({ name: 'OauthRegistration' });

const registered = registration.keys({
  client_id: Joi.string().required(),
  client_secret: text('Shown once'),
  registration_client_uri: Joi.string(),
  registration_access_token: Joi.string(),
}).meta({ name: 'OauthClient' });

const token = Joi.object({ token: text('The token').required(), token_type_hint: Joi.string(), ...client }).unknown();

/** The contracts of the endpoints, by path. */
export const CONTRACTS = {
  '/oauth/authorize': {
    description: 'Begin an authorization', notes: 'For the browser of the user. The response redirects to the consent page, or to the app with an error. HEAD is 405.',
    protocol: {
      query: Joi.object({
        client_id: text('The app').required(),
        response_type: Joi.string().valid('code').required(),
        redirect_uri: text('A registered redirect URI').required(),
        code_challenge: text('PKCE (RFC 7636)').required(),
        code_challenge_method: Joi.string().valid('S256').required(),
        state: text('Returned to the app'),
        prompt: text('`login` asks for the passkey again; `none` is always an error, because every authorization needs consent'),
        max_age: Joi.number().integer().description('Asks for the passkey again when the user authenticated longer ago, in seconds'),
        scope,
        resource,
      }).unknown(),
      responses: { 303: null, 400: null, 429: null, 500: null, 503: null },
    },
  },
  '/oauth/token': {
    description: 'Get tokens', notes: 'Exchanges a code, a refresh token or a device code for an access token (RFC 6749, RFC 8628).',
    protocol: {
      payload: Joi.object({
        grant_type: Joi.string().valid('authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code').required(),
        code: text('For authorization_code'),
        code_verifier: text('For authorization_code: PKCE (RFC 7636)'),
        redirect_uri: text('For authorization_code: that of the authorization request, or absent'),
        refresh_token: text('For refresh_token'),
        device_code: text('For device codes'),
        scope,
        resource,
        ...client,
      }).unknown(),
      responses: { 200: tokens, ...FAILURES, 401: error },
    },
  },
  '/oauth/revoke': {
    description: 'Revoke a token', notes: 'Ends the whole connection of the token (RFC 7009).',
    protocol: { payload: token, responses: { 200: null, ...FAILURES, 401: error } },
  },
  '/oauth/introspect': {
    description: 'Describe a token', notes: 'Describes a token of the app that calls (RFC 7662).',
    protocol: { payload: token, responses: { 200: Joi.object({ active: Joi.boolean().required() }).unknown(), ...FAILURES, 401: error } },
  },
  '/oauth/device': {
    description: 'Begin the flow of a device', notes: 'For apps without a browser (RFC 8628): the user enters the code of the response at /device.',
    protocol: {
      payload: Joi.object({ scope, resource, ...client }).unknown(),
      responses: {
        200: Joi.object({
          device_code: Joi.string().required(), user_code: Joi.string().required(), verification_uri: Joi.string().required(),
          verification_uri_complete: Joi.string(), expires_in: Joi.number().integer().required(),
        }).unknown(),
        ...FAILURES, 401: error,
      },
    },
  },
  '/oauth/register': {
    description: 'Register an app', notes: 'Dynamic client registration (RFC 7591). Absent when `registration.enabled` is false.',
    protocol: { payload: registration, responses: { 201: registered, ...FAILURES } },
  },
  '/oauth/register/{client_id}': {
    description: 'Read the registration of an app', notes: 'With its `registration_access_token` as bearer token (RFC 7592).',
    protocol: { responses: { 200: registered, 400: error, 401: error, 429: error, 500: error, 503: error } },
  },
} satisfies Record<string, EndpointContract>;
