import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MigrationSet } from '../../database/migrate.ts';
import { keyOf, makeOnce } from '../making.ts';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const setsOf = (...names: string[]): MigrationSet[] => names.map((plugin) => ({ plugin, folder: `/plugins/${plugin}/migrations` }));

describe('A template of a run', () => {
  let run: string;
  let steps: string[];
  beforeEach(() => {
    run = mkdtempSync(join(tmpdir(), 'civic-making-'));
    steps = [];
  });
  afterEach(() => { rmSync(run, { recursive: true }); });

  /** Makes a template that takes until `end` is called. */
  function making(name: string, sets: MigrationSet[]): { done: Promise<void>; end(): void; fail(error: Error): void } {
    let end!: () => void;
    let fail!: (error: Error) => void;
    const work = new Promise<void>((resolve, reject) => { [end, fail] = [resolve, reject]; });
    const done = makeOnce(run, sets, async () => {
      steps.push(`${name} begins`);
      await work;
      steps.push(`${name} ends`);
    });
    return { done, end, fail };
  }

  it('is made by one at a time, and with a base that is being made, only after that base', async () => {
    const base = making('base', setsOf('directory'));
    const [same, larger] = [making('same', setsOf('directory')), making('larger', setsOf('accounts', 'directory'))];
    const other = making('other', setsOf('accounts'));
    for (const each of [other, same, larger]) each.end();
    await other.done;
    expect(steps).to.equal(['base begins', 'other begins', 'other ends']);
    base.end();
    await Promise.all([base.done, same.done, larger.done]);
    expect(steps.indexOf('base ends')).to.be.below(Math.min(steps.indexOf('same begins'), steps.indexOf('larger begins')));
    expect(readdirSync(run)).to.equal([]);
  });

  it('is made by the next after one that failed', async () => {
    const [first, second] = [making('first', setsOf('directory')), making('second', setsOf('directory'))];
    second.end();
    first.fail(new Error('No space left'));
    await expect(first.done).to.reject('No space left');
    await second.done;
    expect(steps).to.equal(['first begins', 'second begins', 'second ends']);
  });

  it('is made by another process when the one that began was killed', async () => {
    const { pid } = spawnSync('true');
    const sets = setsOf('directory');
    writeFileSync(join(run, `${keyOf(sets)}.making.json`), JSON.stringify({ pid, sets }));
    const next = making('next', setsOf('accounts', 'directory'));
    next.end();
    await next.done;
    expect(steps).to.equal(['next begins', 'next ends']);
    expect(readdirSync(run)).to.equal([]);
  });
});
