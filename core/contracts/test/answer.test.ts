import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { coreProblems } from '../../http/codes.ts';
import { impliedCodes } from '../answer.ts';

export const lab = Lab.script();
const { describe, it } = lab;

/** Codes a route must name itself: core's helpers throw them, or they answer what is no operation. */
const DECLARED = ['conflict', 'forbidden', 'foreign_form', 'method_not_allowed', 'not_acceptable', 'not_ready', 'precondition_failed', 'result_too_large', 'stale_form', 'too_many_requests'];

describe('Answers', () => {
  it('that follow from the settings of a route are codes of core, and no code of core is forgotten', () => {
    expect([...impliedCodes, ...DECLARED].sort()).to.equal(Object.keys(coreProblems).sort());
  });
});
