import { Failure, isLoopbackHost, Misuse, parseUrl, type Command, type CommandCall } from 'civic';
import { randomBytes } from 'node:crypto';
import { DEVICE_GRANT } from './metadata.ts';
import { hashOf } from './secrets.ts';
import type { Oauth } from './service.ts';
import { clientById, clientsOf, deleteClient, putClient, type ClientRow } from './store/clients.ts';
import { grantsOfClient } from './store/grants.ts';

const OPERATOR = { account_id: null, address: null };

export function clientCommands(oauth: Oauth): Command[] {
  return [createCommand(oauth), listCommand(oauth), removeCommand(oauth)];
}

function createCommand(oauth: Oauth): Command {
  return {
    name: 'oauth client create',
    summary: 'Create an OAuth client for an app that cannot register itself',
    options: [
      { name: 'name', value: 'text', summary: 'The name of the app, shown to users', required: true },
      { name: 'redirect-uri', value: 'url', summary: 'Where the browser goes after the approval: https, or http on a loopback address with any port', multiple: true },
      { name: 'device', summary: 'The app has no browser and uses the device flow' },
      { name: 'confidential', summary: 'The app runs on a server and keeps a secret, which is printed once' },
    ],
    examples: [
      'bin/civic oauth client create --name "Newsroom" --redirect-uri https://news.example.org/callback --confidential',
      'bin/civic oauth client create --name "Field tool" --device --json',
    ],
    needs: 'database',
    writes: true,
    run: (call) => createClient(oauth, call),
  };
}

async function createClient({ civic, accounts, resources, server }: Oauth, { terminal, options }: CommandCall): Promise<void> {
  const uris = (options['redirect-uri'] as string[] | undefined) ?? [];
  if (uris.length === 0 && !options['device']) throw new Misuse('Give --redirect-uri, or --device for an app without a browser');
  const id = `client_${randomBytes(12).toString('base64url')}`;
  const name = nameOf(options['name']);
  for (const uri of uris) checkRedirectUri(uri);
  const secret = options['confidential'] ? randomBytes(32).toString('base64url') : null;
  const metadata = await validMetadata(server, {
    client_id: id,
    client_name: name,
    redirect_uris: uris,
    response_types: uris.length > 0 ? ['code'] : [],
    grant_types: [...(uris.length > 0 ? ['authorization_code'] : []), ...(options['device'] ? [DEVICE_GRANT] : []), 'refresh_token'],
    token_endpoint_auth_method: secret === null ? 'none' : 'client_secret_basic',
    ...(secret !== null && { client_secret: secret }),
  });
  await civic.db.write(async (tx) => {
    await putClient(tx, { id, kind: 'operator', name, metadata, secret_hash: secret === null ? null : hashOf(secret), created_at: civic.clock.iso() });
    await accounts.record(tx, { kind: 'oauth_client_made', by: OPERATOR, subject: id, detail: { name } });
  });
  terminal.print({ client_id: id, ...(secret !== null && { client_secret: secret }), redirect_uris: uris }, () => [
    `client_id      ${id}`,
    ...(secret === null ? [] : [`client_secret  ${secret}`, 'Store the secret now: it is not shown again.']),
    `Enter ${secret === null ? 'it' : 'both'} in the settings of the app, with the address ${resources.byDefault().url}.`,
    `An app that asks for the authorization server or issuer needs ${civic.url('')}.`,
  ].join('\n'));
}

const MAX_NAME = 100;

function nameOf(given: unknown): string {
  const name = String(given).trim();
  if (name === '' || name.length > MAX_NAME) throw new Misuse(`--name must have 1 to ${MAX_NAME} characters: users see it when they approve the app`);
  return name;
}

function checkRedirectUri(text: string): void {
  const uri = parseUrl(text);
  if (!uri) throw new Misuse(`--redirect-uri ${text} is not a URL such as https://app.example.org/callback`);
  if (uri.hostname.includes('*')) throw new Misuse(`--redirect-uri ${text} has a wildcard, and redirect URIs are compared as they are: give the option once for each`);
  if (uri.protocol === 'http:' && !isLoopbackHost(uri.hostname)) throw new Misuse(`--redirect-uri ${text} must use https; plain http is for loopback addresses, such as http://127.0.0.1/callback`);
}

/** Runs the checks of the library that registered clients pass. Returns the completed metadata without the secret. */
async function validMetadata(server: Oauth['server'], given: object): Promise<ClientRow['metadata']> {
  const { Client } = await server.provider();
  const ProviderClient = Client as unknown as new (metadata: object) => { metadata(): ClientRow['metadata'] };
  try {
    const { client_secret: _secret, ...metadata } = new ProviderClient(given).metadata();
    return metadata;
  } catch (error) {
    const { error_description: description, message } = error as Error & { error_description?: string };
    throw new Misuse(`The client is not valid: ${description ?? message}`);
  }
}

function listCommand({ civic }: Oauth): Command {
  return {
    name: 'oauth client list',
    summary: 'List the OAuth clients that the operator created, without apps that registered themselves',
    examples: ['bin/civic oauth client list --json'],
    needs: 'database',
    async run({ terminal }) {
      const rows = await clientsOf(civic.db.read, 'operator');
      const clients = await Promise.all(rows.map(async ({ id, name, metadata, secret_hash, created_at }) => ({
        client_id: id,
        name,
        redirect_uris: metadata['redirect_uris'],
        confidential: secret_hash !== null,
        connections: (await grantsOfClient(civic.db.read, id)).length,
        created_at,
      })));
      const lines = clients.map(({ client_id, name, connections, created_at, redirect_uris }) => (
        `${client_id}  ${name}, created ${created_at}, ${connectionCount(connections)}, ${[redirect_uris ?? []].flat().join(' ') || 'device flow only'}`));
      terminal.print(clients, () => (lines.length === 0 ? 'There are no clients. Create one with bin/civic oauth client create.' : lines.join('\n')));
    },
  };
}

function removeCommand({ civic, accounts, grants }: Oauth): Command {
  return {
    name: 'oauth client remove',
    summary: 'Remove an OAuth client and end its connections; every node rejects its tokens within a second',
    arguments: '<client_id>',
    examples: ['bin/civic oauth client remove client_5dJ0aLq8wZbT3xYc'],
    needs: 'database',
    writes: true,
    existing: true,
    async run({ terminal, positionals }) {
      const id = positionals[0]!;
      const client = await clientById(civic.db.read, id);
      if (!client) throw new Failure('There is no client with this id. bin/civic oauth client list shows the clients that the operator created.');
      const connections = await grantsOfClient(civic.db.read, id);
      await civic.db.write(async (tx) => {
        for (const grant of connections) await grants.end(tx, grant.id, OPERATOR, 'client_removed');
        await deleteClient(tx, id);
        await accounts.record(tx, { kind: 'oauth_client_removed', by: OPERATOR, subject: id, detail: { name: client.name } });
      });
      terminal.print({ client_id: id, connections: connections.length }, () => `Removed ${client.name ?? id} and ended ${connectionCount(connections.length)}.`);
    },
  };
}

function connectionCount(count: number): string {
  return count === 1 ? 'one connection' : `${count} connections`;
}
