import type { Member } from '../stream/member.ts';

/** Who reads a session here, so that they end with it. */
export interface Consumers {
  add(sessionId: string, consumer: Member): void;
  end(sessionId: string): void;
}

export function createConsumers(): Consumers {
  const bySession = new Map<string, Set<Member>>();
  return {
    add(sessionId, consumer) {
      const all = bySession.get(sessionId) ?? new Set();
      bySession.set(sessionId, all.add(consumer));
      consumer.transport.socket.once('close', () => {
        all.delete(consumer);
        if (all.size === 0 && bySession.get(sessionId) === all) bySession.delete(sessionId);
      });
    },
    end(sessionId) { for (const consumer of bySession.get(sessionId) ?? []) consumer.end('revoked'); },
  };
}
