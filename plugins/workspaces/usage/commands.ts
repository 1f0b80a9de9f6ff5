import { Failure, isId, Misuse, type Check, type Command, type Database } from 'civic';
import type { Usage } from './usage.ts';
import { verifyUsage, type Verified } from './verify.ts';

/** `usage verify`: finds lines that were changed or removed by hand. */
export function usageVerify(db: () => Database, usage: Usage): Command {
  return {
    name: 'usage verify',
    summary: 'Verify that no line of what workspaces used was changed or removed',
    examples: ['bin/civic usage verify', 'bin/civic usage verify --workspace 019a8f3e-7c00-7000-8000-000000000001'],
    options: [{ name: 'workspace', value: 'id', summary: 'Verify one workspace only' }],
    needs: 'database',
    existing: true,
    async run({ terminal, options }) {
      const workspace = options.workspace as string | undefined;
      if (workspace !== undefined && !isId(workspace)) throw new Misuse(`"${workspace}" is not the id of a workspace`);
      const found = await db().snapshot((reader) => verifyUsage(reader, usage, workspace?.toLowerCase() ?? null));
      if (found.faults.length > 0) throw new Failure(found.faults.join('\n'));
      if (workspace !== undefined && found.workspaces === 0) throw new Failure(`no use of the workspace ${workspace} is recorded: check the id, which the address of its pages has`);
      terminal.print(found, () => sentence(found, usage.seals.location));
    },
  };
}

/** Verifies the same for `doctor`. */
export function usageCheck(db: () => Database, usage: Usage): Check {
  return {
    name: 'usage',
    async run() {
      const found = await db().snapshot((reader) => verifyUsage(reader, usage, null));
      const [fault] = found.faults;
      if (fault !== undefined) return { status: 'failed', detail: fault, fix: 'the record of usage was changed in the database: compare it with an export of the workspace or with a backup' };
      if (found.unverified.length > 0) return { status: 'warning', detail: sentence(found, usage.seals.location), fix: 'this is so after a restore elsewhere or with a lost key: add the old key as a further line of audit.key' };
      return { status: 'ok', detail: sentence(found, usage.seals.location) };
    },
  };
}

function sentence({ workspaces, lines, unverified }: Verified, location: string): string {
  const count = (number: number, noun: string) => `${number.toLocaleString('en-US')} ${noun}${number === 1 ? '' : 's'}`;
  const all = `${count(lines, 'line')} of ${count(workspaces, 'workspace')}, and the hash chains are intact`;
  return unverified.length === 0 ? all : `${all}, but the ends of ${unverified.length} were sealed with a key that is not in ${location}`;
}
