import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { gatherSchemas } from '../schema.ts';

export const lab = Lab.script();
const { describe, it } = lab;

describe('JSON Schema from Joi', () => {
  const place = Joi.object({ key: Joi.string().required() }).meta({ name: 'Place' });

  it('says a named schema once and refers to it wherever it is used', () => {
    const schemas = gatherSchemas();
    const json = schemas.of(Joi.object({ here: place.required(), there: Joi.array().items(place), either: Joi.alternatives().try(place, Joi.string()) }));
    expect(json).to.equal({
      type: 'object',
      properties: {
        here: { $ref: '#/components/schemas/Place' },
        there: { type: 'array', items: { $ref: '#/components/schemas/Place' } },
        either: { anyOf: [{ $ref: '#/components/schemas/Place' }, { type: 'string', minLength: 1 }] },
      },
      required: ['here'],
      additionalProperties: false,
    });
    expect(schemas.components()).to.equal({ Place: { type: 'object', properties: { key: { type: 'string', minLength: 1 } }, required: ['key'], additionalProperties: false } });
  });

  it('keeps null and the description of the place where a named schema is used', () => {
    const schemas = gatherSchemas();
    const json = schemas.of(Joi.object({ home: place.allow(null).description('Where they live') }));
    expect(json.properties).to.equal({ home: { anyOf: [{ type: 'null' }, { description: 'Where they live', $ref: '#/components/schemas/Place' }] } });
    schemas.of(place);
    expect(schemas.components().Place!.description).to.be.undefined();
    expect(schemas.components().Place!.type).to.equal('object');
  });

  it('writes patterns that engines without Unicode properties can read', () => {
    const { pattern } = gatherSchemas().of(Joi.string().pattern(/^[^\0\p{Surrogate}]*$/u));
    expect(pattern).to.equal('^[^\\u0000\\uD800-\\uDFFF]*$');
    for (const [text, fits] of [['a\u{1F6B2}', true], ['\0', false], ['\uD800', false]] as const) expect(new RegExp(String(pattern), 'u').test(text)).to.equal(fits);
  });

  it('refers to a named schema at the root too', () => {
    expect(gatherSchemas().of(place)).to.equal({ $ref: '#/components/schemas/Place' });
  });

  it('finds named schemas inside named schemas', () => {
    const schemas = gatherSchemas();
    schemas.of(Joi.object({ place: place.required() }).meta({ name: 'Actor' }));
    expect(Object.keys(schemas.components())).to.equal(['Actor', 'Place']);
  });

  it('lets a schema refer to itself', () => {
    const schemas = gatherSchemas();
    schemas.of(Joi.object({ children: Joi.array().items(Joi.link('#Node')) }).id('Node'));
    expect(schemas.components().Node!.properties).to.equal({ children: { type: 'array', items: { $ref: '#/components/schemas/Node' } } });
  });

  it('refuses two different schemas of one name', () => {
    const schemas = gatherSchemas();
    schemas.enter('GET /a (one)');
    schemas.of(place);
    schemas.enter('GET /b (two)');
    expect(() => schemas.of(place.keys({ more: Joi.number() }))).to.throw(/Two different schemas are named Place, one in GET \/a \(one\) and one in GET \/b \(two\)/);
  });

  it('counts null among the values of a nullable list', () => {
    expect(gatherSchemas().of(Joi.string().valid('a', 'b').allow(null))).to.equal({ type: ['string', 'null'], enum: ['a', 'b', null] });
  });

  it('leaves values of a default as they are', () => {
    expect(gatherSchemas().of(Joi.object({ $ref: Joi.string() }).default({ $defs: 1 })).default).to.equal({ $defs: 1 });
  });
});
