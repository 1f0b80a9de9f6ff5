import { Failure, Misuse, type Command } from 'civic';
import { randomBytes } from 'node:crypto';
import { hashOf } from './secrets.ts';
import { DEVICE_GRANT } from './metadata.ts';
import type { Oauth } from './service.ts';
import { clientsOf, deleteClient, clientById, putClient, type ClientRow } from './store/clients.ts';
import { grantsOfClient } from './store/grants.ts';

const OPERATOR = { account_id: null, address: null };

export function clientCommands({ civic, accounts, grants, server }: Oauth): Command[] {
  return [
    {
      name: 'oauth client create',
      summary: 'Create an OAuth client by hand, for an app that cannot register itself',
      options: [
        { name: 'name', value: 'text', summary: 'The name of the app, shown to users', required: true },
        { name: 'redirect-uri', value: 'url', summary: 'Where users are sent after they approve; https, or http on a loopback address, of which any port is accepted', multiple: true },
        { name: 'device', summary: 'The app has no browser and uses the device flow' },
        { name: 'confidential', summary: 'The app runs on a server and keeps a secret, which is printed once' },
      ],
      examples: ['bin/civic oauth client create --name "Newsroom" --redirect-uri https://news.example.org/callback --confidential', 'bin/civic oauth client create --name "Field tool" --device --json'],
      needs: 'database',
      writes: true,
      async run({ terminal, options }) {
        const uris = (options['redirect-uri'] as string[] | undefined) ?? [];
        if (uris.length === 0 && !options['device']) throw new Misuse('Give --redirect-uri, or --device for an app without a browser');
        const secret = options['confidential'] ? randomBytes(32).toString('base64url') : null;
        const metadata = {
          client_id: `client_${randomBytes(12).toString('base64url')}`,
          client_name: String(options['name']),
          redirect_uris: uris,
          response_types: uris.length > 0 ? ['code'] : [],
          grant_types: [...(uris.length > 0 ? ['authorization_code'] : []), ...(options['device'] ? [DEVICE_GRANT] : []), 'refresh_token'],
          token_endpoint_auth_method: secret === null ? 'none' : 'client_secret_basic',
        };
        const { Client } = await server.provider();
        const checked = await valid(async () => new (Client as unknown as new (metadata: object) => { metadata(): ClientRow['metadata'] })({ ...metadata, ...(secret !== null && { client_secret: secret }) }).metadata());
        const { client_secret: _secret, ...stored } = checked;
        await civic.db.write(async (tx) => {
          await putClient(tx, { id: metadata.client_id, kind: 'operator', name: metadata.client_name, metadata: stored, secret_hash: secret === null ? null : hashOf(secret), created_at: civic.clock.iso() });
          await accounts.record(tx, { kind: 'oauth_client_made', by: OPERATOR, subject: metadata.client_id, detail: { name: metadata.client_name } });
        });
        terminal.print({ client_id: metadata.client_id, ...(secret !== null && { client_secret: secret }), redirect_uris: uris }, () => `client_id      ${metadata.client_id}${secret === null ? '' : `\nclient_secret  ${secret}\nKeep the secret now: it is not shown again.`}`);
      },
    },
    {
      name: 'oauth client list',
      summary: 'Show the OAuth clients that were created by hand; apps that registered themselves come and go',
      examples: ['bin/civic oauth client list --json'],
      needs: 'database',
      async run({ terminal }) {
        const clients = await Promise.all((await clientsOf(civic.db.read, 'operator')).map(async ({ id, name, metadata, secret_hash, created_at }) => ({
          client_id: id, name, redirect_uris: metadata['redirect_uris'], confidential: secret_hash !== null, connections: (await grantsOfClient(civic.db.read, id)).length, created_at,
        })));
        terminal.print(clients, () => (clients.length === 0 ? 'There are no clients: bin/civic oauth client create makes one.' : clients.map(({ client_id, name, connections, created_at }) => `${client_id}  ${name}, created ${created_at}, ${connections === 1 ? 'one connection' : `${connections} connections`}`).join('\n')));
      },
    },
    {
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
        if (!client) throw new Failure('There is no client with this id. bin/civic oauth client list shows those that were created by hand.');
        const connections = await grantsOfClient(civic.db.read, id);
        await civic.db.write(async (tx) => {
          for (const grant of connections) await grants.end(tx, grant.id, OPERATOR, 'client_removed');
          await deleteClient(tx, id);
          await accounts.record(tx, { kind: 'oauth_client_removed', by: OPERATOR, subject: id, detail: { name: client.name } });
        });
        terminal.print({ client_id: id, connections: connections.length }, () => `Removed ${client.name ?? id} and ended ${connections.length === 1 ? 'one connection' : `${connections.length} connections`}.`);
      },
    },
  ];
}

/** Runs the checks that registered clients pass. */
async function valid<T>(check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    const { error_description: description, message } = error as Error & { error_description?: string };
    throw new Misuse(`The client is not valid: ${description ?? message}`);
  }
}
