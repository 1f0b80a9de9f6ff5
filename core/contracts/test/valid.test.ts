import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { asyncApi } from '../asyncapi.ts';
import { openApi } from '../openapi.ts';
import { problems, shelfServer } from './fixture.ts';

export const notQuick = 'it compiles large schemas';
export const lab = Lab.script();
export const ownProcess = 'it registers problem codes of core with other texts';
const { describe, it } = lab;

const info = { title: 'Shelves', version: '1.0.0' };
const publicUrl = 'https://shelves.example';

describe('The contracts', () => {
  it('are valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate({ ...openApi(await shelfServer(), { info, publicUrl, problems, isCounted: true }) });
    expect(errors).to.be.undefined();
    expect(valid).to.be.true();
  });

  it('are valid AsyncAPI 3.0', async () => {
    const file = createRequire(import.meta.url).resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
    const ajv = new Ajv({ strict: false, allErrors: true });
    formats.default(ajv);
    const check = ajv.compile(JSON.parse(readFileSync(file, 'utf8')));
    check(asyncApi(await shelfServer(), { info, publicUrl }));
    expect(check.errors).to.be.null();
  });
});
