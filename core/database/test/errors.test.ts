import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { problemData } from '../../problems.ts';
import { cleanError } from '../errors.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('errors of drivers', () => {
  it('recognise a lost connection by the message of the driver, also after the failed statement', () => {
    for (const words of ['Connection terminated unexpectedly', 'insert into "notes" ("text") values ($1) - Connection terminated unexpectedly', 'BEGIN; - Client has encountered a connection error and is not queryable']) {
      expect(problemData(cleanError(new Error(words)))?.code).to.equal('database_unavailable');
    }
  });

  it('do not take other errors for one', () => {
    const error = new Error('insert into "notes" - null value in column "text"');
    expect(cleanError(error)).to.shallow.equal(error);
  });

  it('ask to retry later when the disk is full', () => {
    const full = problemData(cleanError(Object.assign(new Error('SQLITE_FULL: database or disk is full'), { code: 'SQLITE_FULL' })));
    expect(full).to.include({ code: 'storage_full', headers: { 'Retry-After': '5' } });
  });
});
