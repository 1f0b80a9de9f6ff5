import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { PassThrough } from 'node:stream';
import { createDialog } from '../dialog.ts';
import { Stopped, type Dialog } from '../question.ts';

export const lab = Lab.script();
const { describe, it } = lab;

interface Stage {
  dialog: Dialog & { close(): void };
  input: PassThrough & { isTTY?: boolean; isRaw?: boolean };
  shown: () => string;
  interrupted: AbortController;
}

/** A dialog on streams of its own, which are a terminal or pipes. */
function stage({ isTerminal, isYes, isClosed }: { isTerminal: boolean; isYes?: boolean; isClosed?: boolean }): Stage {
  const input: Stage['input'] = new PassThrough();
  if (isTerminal) Object.assign(input, { isTTY: true, setRawMode: (isRaw: boolean) => { input.isRaw = isRaw; } });
  let shown = '';
  const interrupted = new AbortController();
  const dialog = createDialog({ input, hasKeys: isTerminal, isTerminal, columns: 80, write: (text) => { shown += text; }, style: (_style, text) => text, signal: interrupted.signal }, { isYes, isClosed });
  return { dialog, input, shown: () => shown, interrupted };
}

const colours = [{ value: 1, label: 'red' }, { value: 2, label: 'green' }, { value: 3, label: 'grey' }];
const keyed = [{ value: 'A', label: 'accept', key: 'a' }, { value: 'R', label: 'reject', key: 'r' }];
const place = { text: 'Which place?', instead: '--location <place>' };
const DOWN = '\u001b[B';

describe('Questions on a terminal', () => {
  it('take a text, which can be corrected while it is typed', async () => {
    const { dialog, input, shown } = stage({ isTerminal: true });
    input.write('Omaja\u007f\u007fha\r');
    expect(await dialog.text(place)).to.equal('Omaha');
    expect(shown()).to.startWith('Which place? Omaj');
    input.write('wrong\u0015Gary\r');
    expect(await dialog.text(place)).to.equal('Gary');
    expect(input.isRaw).to.be.false();
  });

  it('repeat a question whose answer is not valid, and explain why', async () => {
    const { dialog, input, shown } = stage({ isTerminal: true });
    input.write('\r12\r7\r');
    expect(await dialog.text({ ...place, fault: (answer) => (answer.length > 1 ? 'One digit, please.' : null) })).to.equal('7');
    expect(shown()).to.contain(['An answer is required.', 'One digit, please.']);
  });

  it('do not show a secret', async () => {
    const { dialog, input, shown } = stage({ isTerminal: true });
    input.write('hunter3\u007f2\r');
    expect(await dialog.secret({ text: 'Key:', instead: '--key <key>' })).to.equal('hunter2');
    expect(shown()).to.equal('Key: \n');
  });

  it('choose by one key, ignore others, and take Enter as the fallback', async () => {
    const { dialog, input, shown } = stage({ isTerminal: true });
    input.write('xR');
    expect(await dialog.choice({ ...place, choices: keyed })).to.equal('R');
    expect(shown()).to.equal('Which place? a accept  r reject reject\n');
    input.write('\r');
    expect(await dialog.choice({ ...place, choices: keyed, fallback: 'A' })).to.equal('A');
    input.write('n');
    expect(await dialog.confirm({ ...place, fallback: true })).to.be.false();
  });

  it('choose from a list by arrows and by typing a part of the name', async () => {
    const { dialog, input, shown } = stage({ isTerminal: true });
    input.write(`${DOWN}${DOWN}\r`);
    expect(await dialog.choice({ ...place, choices: colours })).to.equal(3);
    expect(shown()).to.contain('> red\n  green\n  grey\n').and.to.endWith('  red\n  green\n> grey\n');
    input.write(`gr${DOWN}\r`);
    expect(await dialog.choice({ ...place, choices: colours })).to.equal(3);
    expect(shown()).to.endWith('Which place? gr\n  green\n> grey\n');
  });

  it('end with Ctrl-C and with a signal', async () => {
    const { dialog, input, interrupted } = stage({ isTerminal: true });
    input.write('Om\u0003');
    await expect(dialog.text(place)).to.reject(Stopped, 'Stopped.');
    const waiting = dialog.choice({ ...place, choices: keyed });
    interrupted.abort();
    await expect(waiting).to.reject(Stopped);
    expect(input.isRaw).to.be.false();
  });

  it('empty the screen', () => {
    const { dialog, shown } = stage({ isTerminal: true });
    dialog.clear();
    expect(shown()).to.equal('\u001b[2J\u001b[3J\u001b[H');
  });
});

describe('Questions without a terminal', () => {
  it('take one line each, and write no control characters', async () => {
    const { dialog, input, shown } = stage({ isTerminal: false });
    input.write('Omaha\nr\n2\nx\ngrey\n\n');
    expect(await dialog.text(place)).to.equal('Omaha');
    expect(await dialog.choice({ ...place, choices: keyed })).to.equal('R');
    expect(await dialog.choice({ ...place, choices: colours })).to.equal(2);
    expect(await dialog.choice({ ...place, choices: colours })).to.equal(3);
    expect(await dialog.confirm({ ...place, fallback: true })).to.be.true();
    dialog.clear();
    expect(shown()).to.contain(['a accept, r reject: ', '   1. red\n   2. green\n', 'Answer with a number from 1 to 3']).and.to.not.contain('\u001b');
    dialog.close();
  });

  it('fail when the input ends, and name what to give instead', async () => {
    const { dialog, input } = stage({ isTerminal: false });
    input.end();
    await expect(dialog.text(place)).to.reject('Which place: no answer was given. Give --location <place>.');
    await expect(dialog.choice({ ...place, choices: colours })).to.reject(/Give --location <place>\.$/);
  });

  it('have the answer yes or the fallback with --yes, and fail without one', async () => {
    const { dialog, shown } = stage({ isTerminal: true, isYes: true });
    expect(await dialog.confirm({ ...place, fallback: false })).to.be.true();
    expect(await dialog.text({ ...place, fallback: 'Omaha' })).to.equal('Omaha');
    expect(await dialog.choice({ ...place, choices: colours, fallback: 2 })).to.equal(2);
    await expect(dialog.text(place)).to.reject(/Give --location/);
    await expect(dialog.secret(place)).to.reject(/Give --location/);
    expect(shown()).to.equal('');
  });

  it('are not asked where the output is for machines', async () => {
    const { dialog, shown } = stage({ isTerminal: true, isClosed: true });
    await expect(dialog.text({ ...place, fallback: 'Omaha' })).to.reject(/Give --location/);
    expect(shown()).to.equal('');
  });
});
