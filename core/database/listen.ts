import type pg from 'pg';
import type { Logger } from '../log.ts';
import { cleanError } from './errors.ts';
import { endSession } from './postgres.ts';

const RETRY_MILLISECONDS = 1000;

export interface Listener {
  listen(channel: string, onMessage: (payload: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/**
 * LISTEN on one connection of its own, made with the first channel and made again when it is lost.
 * What was sent in between is lost: listeners also poll.
 */
export function createListener(openSession: () => Promise<pg.Client>, log: Logger): Listener {
  const channels = new Map<string, Set<(payload: string) => void>>();
  let client: pg.Client | null = null;
  let connecting: Promise<void> | null = null;
  let retry: NodeJS.Timeout | undefined;
  let closed = false;

  async function connect(): Promise<void> {
    const fresh = await openSession();
    fresh.on('notification', (message) => {
      for (const onMessage of channels.get(message.channel) ?? []) onMessage(message.payload ?? '');
    });
    fresh.on('end', () => {
      if (client !== fresh) return;
      client = null;
      if (closed) return;
      log.warn('The connection that listens to PostgreSQL was lost; connecting again');
      reconnectSoon();
    });
    try {
      for (const channel of channels.keys()) await fresh.query(`listen ${fresh.escapeIdentifier(channel)}`);
    } catch (error) {
      await endSession(fresh);
      throw error;
    }
    client = fresh;
    if (closed) await disconnect();
  }

  async function disconnect(): Promise<void> {
    const ending = client;
    client = null;
    if (ending) await endSession(ending);
  }

  function reconnectSoon(): void {
    retry = setTimeout(() => {
      connecting = connect().catch(() => {
        if (!closed) reconnectSoon();
      });
    }, RETRY_MILLISECONDS);
    retry.unref();
  }

  return {
    async listen(channel, onMessage) {
      const listeners = channels.get(channel) ?? new Set();
      channels.set(channel, listeners.add(onMessage));
      connecting ??= connect();
      await connecting.catch((error: unknown) => {
        connecting = null;
        throw cleanError(error);
      });
      if (client && listeners.size === 1) await client.query(`listen ${client.escapeIdentifier(channel)}`);
      return async () => {
        listeners.delete(onMessage);
        if (listeners.size > 0) return;
        channels.delete(channel);
        // A connection that is lost listens to nothing.
        await client?.query(`unlisten ${client.escapeIdentifier(channel)}`).catch(() => undefined);
      };
    },
    async close() {
      closed = true;
      clearTimeout(retry);
      await connecting?.catch(() => undefined);
      await disconnect();
    },
  };
}
