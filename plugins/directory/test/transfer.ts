import type { CommandCall, Terminal } from 'civic';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestResponse } from 'civic/testing';
import type { DirectoryKit } from './kit.ts';

export interface Ran {
  out: string;
  err: string;
  /** What it printed with --json. */
  value: any;
}

/** Runs a command as the command line does, in this process. */
export async function runCommand(kit: Pick<DirectoryKit, 'composition'>, name: string, positionals: string[], options: CommandCall['options'] = {}, signal: AbortSignal = new AbortController().signal): Promise<Ran> {
  const ran: Ran = { out: '', err: '', value: undefined };
  const terminal: Terminal = {
    json: Boolean(options.json),
    signal,
    out: (line) => { ran.out += `${line}\n`; },
    err: (line) => { ran.err += `${line}\n`; },
    print: (value, words) => {
      ran.value = value;
      ran.out += `${words()}\n`;
    },
    progress: (label, done, total) => { ran.err += `${label} ${done}/${total}\n`; },
    style: (_style, text) => text,
  };
  const command = kit.composition.commands.find((each) => each.name === name)!;
  await command.run({ terminal, positionals, options, cwd: tmpdir() });
  return ran;
}

export interface Folder {
  path: string;
  /** Writes a file there, and answers its path. */
  file(name: string, content: string | Buffer): string;
  remove(): void;
}

export function testFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'civic-transfer-'));
  return {
    path,
    file(name, content) {
      writeFileSync(join(path, name), content);
      return join(path, name);
    },
    remove: () => { rmSync(path, { recursive: true, force: true }); },
  };
}

/** Sends a file and waits until the job is through with it. */
export async function upload(kit: DirectoryKit, query: string, body: string | Buffer, who: string, type = 'application/octet-stream'): Promise<TestResponse> {
  const sent = await kit.send('POST', `/api/imports?${query}`, body, who, { 'content-type': type });
  if (sent.status !== 202) return sent;
  for (let tries = 0; tries < 300; tries++) {
    const answer = await kit.get(`/api/imports/${sent.body.id}`, who);
    if (['completed', 'failed'].includes(answer.body.state)) return answer;
    await sleep(50);
  }
  throw new Error('The import did not end');
}

export async function exported(kit: DirectoryKit, format = 'ndjson'): Promise<string> {
  const { status, text } = await kit.get(`/api/exports/entities?format=${format}`);
  if (status !== 200) throw new Error(text);
  return text;
}

const OWN = ['blocks', 'imports', 'records', 'sources', 'claims', 'judgements', 'changes', 'origins', 'actors', 'listings', 'place_sources', 'counts', 'search', 'terms', 'term_deletions'];

/** As a new instance: loading the gazetteer again for each test would take longer than the tests. */
export async function emptied(kit: DirectoryKit): Promise<DirectoryKit> {
  await kit.db.write(async (tx) => { for (const table of OWN) await tx(`directory_${table}`).delete(); });
  return kit;
}
