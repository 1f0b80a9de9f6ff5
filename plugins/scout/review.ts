import { Failure, Stopped, type Command, type Dialog, type Terminal } from 'civic';
import type { ShownCandidate, ShownRun } from 'civic/discovery';
import type { Scout } from './context.ts';
import { explained, PERSON } from './person.ts';
import { RUN_OPTION, runOf } from './runs.ts';
import { candidateLines } from './screen.ts';

type Action = 'accept' | 'reject' | 'merge' | 'edit' | 'skip' | 'undo' | 'quit';

const ACTIONS: { value: Action; label: string; key: string }[] = [
  { value: 'accept', label: 'accept', key: 'a' },
  { value: 'reject', label: 'reject', key: 'r' },
  { value: 'merge', label: 'merge', key: 'm' },
  { value: 'edit', label: 'edit', key: 'e' },
  { value: 'skip', label: 'skip', key: 's' },
  { value: 'undo', label: 'undo', key: 'u' },
  { value: 'quit', label: 'quit', key: 'q' },
];
const TYPES = ['person', 'organization', 'initiative', 'campaign', 'event'] as const;
const INSTEAD = 'answers as lines on standard input, such as: printf "a\\nr\\nq\\n" | bin/scout review';

interface Session {
  scout: Scout;
  run: ShownRun;
  dialog: Dialog;
  terminal: Terminal;
  /** Ids of candidates that were decided, the latest at the end. */
  decided: string[];
  counts: Record<'accept' | 'reject' | 'merge', number>;
}

/** `review` shows one candidate at a time. Each decision is stored at once, so that a review can end at any time. */
export function reviewCommand(scout: Scout): Command {
  return {
    name: 'review',
    summary: 'Decide about the candidates of a run, one by one',
    options: [RUN_OPTION],
    examples: ['bin/scout review', 'printf "a\\nr\\nq\\n" | bin/scout review'],
    needs: 'database',
    writes: true,
    existing: true,
    async run({ terminal, dialog, options }) {
      const run = await runOf(scout, options);
      const session: Session = { scout, run, dialog: dialog!, terminal, decided: [], counts: { accept: 0, reject: 0, merge: 0 } };
      // Ctrl-C ends a review as quit does: all decisions are stored.
      await review(session).catch((error: unknown) => { if (!(error instanceof Stopped)) throw error; });
      const { accept, reject, merge } = session.counts;
      const left = (await scout.research.candidates(scout.civic.db.read, PERSON, run.id, 'pending')).length;
      terminal.print({ run_id: run.id, accepted: accept, rejected: reject, merged: merge, left }, () => `${accept} accepted, ${reject} rejected, ${merge} merged; ${left} wait.${accept + merge > 0 ? '\nbin/scout sync sends the accepted ones.' : ''}`);
    },
  };
}

async function review(session: Session): Promise<void> {
  const { scout: { civic, research }, run, dialog, terminal } = session;
  let waiting = (await research.candidates(civic.db.read, PERSON, run.id, 'pending')).map(({ id }) => id);
  const total = waiting.length;
  let notice = '';
  while (waiting.length > 0) {
    const candidate = await research.candidate(civic.db.read, PERSON, run.id, waiting[0]!);
    dialog.clear();
    for (const line of candidateLines(candidate, { width: dialog.columns, position: `${total - waiting.length + 1} of ${total}`, location: run.location, style: terminal.style })) terminal.out(line);
    if (notice !== '') terminal.out(`\n${terminal.style('yellow', notice)}`);
    const action = await dialog.choice({ text: '\nDecision:', instead: INSTEAD, choices: ACTIONS });
    if (action === 'quit') return;
    const [next, said] = await act(session, candidate, action, waiting);
    waiting = next;
    notice = said;
  }
  if (total === 0) terminal.err('No candidate waits for a decision.');
}

/** Does what the person chose. Returns the candidates that then wait, and what the person should know. */
async function act(session: Session, candidate: ShownCandidate, action: Exclude<Action, 'quit'>, waiting: string[]): Promise<[waiting: string[], notice: string]> {
  const rest = waiting.slice(1);
  try {
    if (action === 'skip') return [rest, ''];
    if (action === 'undo') return await undo(session, waiting);
    if (action === 'edit') return [waiting, await edit(session, candidate)];
    const into = action === 'merge' ? await targetOf(session, candidate) : undefined;
    if (into === null) return [waiting, ''];
    return [rest, await decide(session, candidate, action, into)];
  } catch (error) {
    if (error instanceof Failure && !(error instanceof Stopped)) return [waiting, error.message];
    throw error;
  }
}

async function decide({ scout: { civic, research }, run, decided, counts }: Session, { id, name }: ShownCandidate, action: 'accept' | 'reject' | 'merge', into?: string): Promise<string> {
  const { warnings } = await explained(() => civic.db.write((tx) => research.decide(tx, PERSON, run.id, id, { decision: action, ...(into && { into }) })));
  decided.push(id);
  counts[action]++;
  return [`${name}: ${{ accept: 'accepted', reject: 'rejected', merge: 'merged' }[action]}.`, ...warnings].join(' ');
}

async function undo({ scout: { civic, research }, run, decided, counts }: Session, waiting: string[]): Promise<[string[], string]> {
  const id = decided.at(-1);
  if (id === undefined) return [waiting, 'There is nothing to undo in this review.'];
  const { decision } = await research.candidate(civic.db.read, PERSON, run.id, id);
  const { name } = await explained(() => civic.db.write((tx) => research.undo(tx, PERSON, run.id, id)));
  decided.pop();
  counts[decision === 'accepted' ? 'accept' : decision === 'rejected' ? 'reject' : 'merge']--;
  return [[id, ...waiting], `${name} waits again.`];
}

/** Asks which actor the candidate is: its match, or one that was accepted before; null for none. */
async function targetOf({ scout: { civic, research }, run, dialog }: Session, { match, type }: ShownCandidate): Promise<string | null> {
  const accepted = (await research.candidates(civic.db.read, PERSON, run.id, 'accepted')).filter((one) => one.type === type && one.entity_id !== match?.entity_id);
  const choices = [
    ...(match ? [{ value: match.entity_id as string | null, label: `${match.name} (match)` }] : []),
    ...accepted.map(({ entity_id, name }) => ({ value: entity_id, label: name })),
    { value: null, label: 'none of these: back' },
  ];
  return dialog.choice({ text: 'Merge into:', instead: INSTEAD, choices });
}

async function edit({ scout: { civic, research }, run, dialog }: Session, { id, type, name, claims }: ShownCandidate): Promise<string> {
  const what = await dialog.choice({ text: 'Edit:', instead: INSTEAD, choices: [{ value: 'name', label: 'name', key: 'n' }, { value: 'type', label: 'type', key: 't' }, { value: 'claims', label: 'remove a claim', key: 'c' }, { value: 'back', label: 'back', key: 'b' }] });
  if (what === 'back') return '';
  const change = what === 'name' ? { name: await dialog.text({ text: 'Name:', instead: INSTEAD, fallback: name }) }
    : what === 'type' ? { type: await dialog.choice({ text: 'Type:', instead: INSTEAD, choices: TYPES.map((value) => ({ value, label: value })), fallback: type }) }
      : { claims: await withoutOne(dialog, claims) };
  await explained(() => civic.db.write((tx) => research.change(tx, PERSON, run.id, id, change)));
  return 'Corrected.';
}

async function withoutOne(dialog: Dialog, claims: ShownCandidate['claims']): Promise<ShownCandidate['claims']> {
  const at = await dialog.choice({ text: 'Remove:', instead: INSTEAD, choices: claims.map(({ property, value }, index) => ({ value: index, label: `${property}: ${typeof value === 'string' ? value : JSON.stringify(value)}` })) });
  return claims.filter((_, index) => index !== at);
}
