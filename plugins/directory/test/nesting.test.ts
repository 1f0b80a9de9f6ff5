import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import * as yaml from 'yaml';
import { isDeepYaml } from '../nesting.ts';

export const lab = Lab.script();
const { describe, it } = lab;

/** Texts on which the library would end the process: 100,000 characters each. */
const DEEP = {
  lists: '['.repeat(100_000),
  objects: '{a: '.repeat(25_000),
  'lists in blocks': `${'- '.repeat(50_000)}x`,
  'keys in blocks': `${'? '.repeat(50_000)}x`,
  values: ': '.repeat(50_000),
  tags: '!a '.repeat(33_000),
  anchors: '&a '.repeat(33_000),
  'indented maps': Array.from({ length: 400 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
};

describe('YAML', () => {
  for (const [name, text] of Object.entries(DEEP)) {
    it(`with endless ${name} is too deep`, () => { expect(isDeepYaml(yaml, text)).to.be.true(); });
  }

  it('of an ordinary depth is not, however long', () => {
    const document = '- id: ocd-person/1\n  name: "A - B: C"\n  roles: [{type: lower, district: 4}]\n  note: |\n    - - - - !a\n';
    expect(isDeepYaml(yaml, document.repeat(1000))).to.be.false();
  });
});
