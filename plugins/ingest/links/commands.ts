import { Failure, Misuse, type Command } from 'civic';
import type { Ingest } from '../context.ts';
import { hostToCheck } from './finding.ts';
import type { CheckResult, Links } from './links.ts';
import { countStates, insertLinks, LINK_STATES, linkById, linksInState, type LinkState } from './store.ts';

const MOST = 1000;

/** `civic links …`: whether the addresses of the directory's sources work. */
export function linkCommands({ civic, directory }: Ingest, links: Links): Command[] {
  return [
    {
      name: 'links list',
      summary: 'Count the links of the directory by state, and list those of one state',
      options: [{ name: 'state', value: 'state', summary: `Which to list: ${LINK_STATES.join(', ')}; broken when absent` }],
      needs: 'database',
      async run({ terminal, options }) {
        const state = LINK_STATES.find((one) => one === (options.state ?? 'broken'));
        if (!state) throw new Misuse(`--state must be one of ${LINK_STATES.join(', ')}`);
        const { counts, data } = await listed(state);
        terminal.print({ counts, data }, () => [LINK_STATES.map((one) => `${one} ${counts[one]}`).join(', '), ...data.map(({ source_id, url, detail }) => `${source_id}  ${url}${detail ? `\n  ${detail}` : ''}`)].join('\n'));
      },
    },
    {
      name: 'links check',
      summary: 'Check the link of one source of the directory now',
      arguments: '<source id>',
      needs: 'database',
      writes: true,
      existing: true,
      async run({ terminal, positionals: [id] }) {
        if (!id) throw new Misuse('Name the id of the source');
        const result = await checkNow(id.toLowerCase());
        terminal.print(shownResult(result), () => inWords(result));
      },
    },
  ];

  async function listed(state: LinkState) {
    const rows = await linksInState(civic.db.read, state, { after: null, limit: MOST });
    const sources = new Map((await directory.linksById(civic.db.read, rows.map(({ source_id }) => source_id))).map((source) => [source.id, source]));
    return {
      counts: await countStates(civic.db.read),
      data: rows.flatMap(({ source_id, failures, failing_since, checked_at, reason, detail, moved_to }) => (sources.has(source_id) ? [{ source_id, url: sources.get(source_id)!.url, state, failures, failing_since, checked_at, reason, detail, moved_to }] : [])),
    };
  }

  async function checkNow(id: string): Promise<CheckResult> {
    const [source] = await directory.linksById(civic.db.read, [id]);
    if (!source) throw new Failure(`No source of the directory has the id ${id}`);
    const host = hostToCheck(source.url);
    if (host === null) throw new Failure(`${source.url} cannot be checked: it is no address of the public web`);
    const now = civic.clock.iso();
    await civic.db.write((tx) => insertLinks(tx, [{ source_id: id, host, added_at: now, next_at: now }]));
    const [result] = await links.check([(await linkById(civic.db.read, id))!], { write: civic.db.write });
    if (!result) throw new Failure('A reviewer marked this source as broken. It is checked again once a reviewer has confirmed it.');
    return result;
  }
}

function shownResult({ source, finding, isCounted }: CheckResult): object {
  return { source_id: source.id, url: source.url, result: finding.kind, is_counted: isCounted, moved_to: null, reason: null, detail: null, ...withoutKind(finding) };
}

function withoutKind({ kind: _kind, ...rest }: CheckResult['finding']): object {
  return rest;
}

function inWords({ source: { url }, finding, isCounted }: CheckResult): string {
  if (finding.kind === 'reached') return finding.moved_to === null ? `${url} works` : `${url} leads to ${finding.moved_to}`;
  if (finding.kind === 'put_off') return `${url} was not requested: its host is busy${finding.until ? ` until ${finding.until}` : ''}`;
  if (finding.kind === 'blocked') return `${url} cannot be checked: ${finding.detail}`;
  return `${url} does not work: ${finding.detail}${isCounted ? '' : '\nIt does not count, because no other page could be reached either.'}`;
}
