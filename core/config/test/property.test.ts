import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { checkConfig } from '../check.ts';
import { readConfigText } from '../load.ts';
import { maskedConfig, describeErrors, showConfig } from '../report.ts';
import type { ConfigFragment } from '../types.ts';

export const notQuick = 'it generates its input';
export const lab = Lab.script();
const { experiment, test } = lab;

const flags: ConfigFragment = { maximum: { doc: 'Most.', format: 'nat', default: 3 }, password: { doc: 'Secret.', format: String, default: null, sensitive: true } };
const options = { env: {}, args: {}, root: '/kit', cwd: '/here' };
const check = (text: string, env: NodeJS.ProcessEnv = {}) => checkConfig(readConfigText(text, 'civic.yaml', { ...options, env }), new Map([['flags', flags]]));

const word = fc.string({ minLength: 1 }).filter((text) => !text.includes('${'));
const maybe = { requiredKeys: [] };
const rightConfig = fc.record({
  name: word,
  public_url: fc.webUrl().map((url) => new URL(url).origin),
  shutdown_seconds: fc.double({ min: 1, max: 600, noNaN: true }),
  http: fc.record({ port: fc.nat(65535), trusted_proxies: fc.array(fc.oneof(fc.ipV4(), fc.ipV6())), cors_origins: fc.array(fc.webUrl().map((url) => new URL(url).origin)), fetch: fc.record({ allow_private_addresses: fc.boolean(), user_agent: word }, maybe) }, maybe),
  log: fc.record({ level: fc.constantFrom('debug', 'info', 'warn', 'error', 'silent'), format: fc.constantFrom('auto', 'json') }, maybe),
  plugins: fc.record({ flags: fc.record({ maximum: fc.nat(), password: word }, { requiredKeys: ['password'] }) }, maybe),
}, maybe);

/** Text that is nearly a config: right words and marks in the wrong places. */
const pieces = fc.constantFrom('http:', '  port: ', 'plugins:\n', '  flags:', '\n', '\n  ', '\t', '- ', '"', "'", '{', '}', '[', ']', ', ', '&a ', '*a', '!x ', '${', '${A}', '$${', '8080', 'true', 'null', '~', '|\n', '>', '---\n', '%YAML 1.1\n', '? ', ': ', '<<: ', '#', '\\', '__proto__: ', 'constructor: ', 'enabled: ', 'from: ', '\u0000', '\uFEFF', '\r', 'é', '😀', '.inf', '1e999', '0x1f');
/** What may stand in front of a value without making it a key. */
const marks = fc.constantFrom('', '"', "'", '&a ', '*', '!x ', '!', '${', '[', '{', '\\', '@', '`', '%', '|', '>', '- ', '? ', '\t', '#');
const garbage = fc.oneof(fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join('')), fc.string({ unit: 'binary' }), fc.json());

/** Every value of `part`, at its place in `whole`. */
function expectWithin(part: unknown, whole: unknown): void {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return void expect(whole).to.equal(part);
  for (const [key, value] of Object.entries(part)) expectWithin(value, (whole as Record<string, unknown>)[key]);
}

// `npm run soak -- generated` tries ten times as many.
const RUNS = process.env.CIVIC_TEST_SOAK === '1' ? 10 : 1;

experiment('any configuration', { timeout: 60_000 }, () => {
  test('that fits the options is taken as it is, written as YAML or JSON, and reads back from what is shown', () => {
    fc.assert(fc.property(rightConfig, fc.boolean(), (given, isJson) => {
      const result = check(isJson ? JSON.stringify(given) : stringify(given));
      expect(result.errors.map((error) => error.message)).to.equal([]);
      expectWithin(given, result.config);
      const again = check(showConfig(result.config, result.origins, result.schema, { origin: true, color: false }));
      expect(maskedConfig(again.config, again.schema)).to.equal(maskedConfig(result.config, result.schema));
    }), { numRuns: 20 * RUNS });
  });

  test('that is rubbish is described, never thrown', () => {
    fc.assert(fc.property(garbage, fc.string(), (text, value) => {
      const { errors, config } = check(text, { A: value, CIVIC_PORT: value, CIVIC_HTTP_TRUSTED_PROXIES: value });
      const words = describeErrors(errors, { color: false });
      expect(words).to.not.match(/undefined|NaN|\[object/);
      expect(config.http.port).to.be.a.number();
    }), { numRuns: 80 * RUNS });
  });

  test('never shows the value of a secret in its errors, wherever the mistake is', () => {
    fc.assert(fc.property(garbage, marks, fc.constantFrom('plugins:\n  flags:\n    password: ', 'plugins: { flags: { password: ', 'plugins:\n  flags:\n    pasword: ', 'database:\n  url: '), (text, mark, start) => {
      const { errors } = check(`${start}${mark}hunter2${text}`);
      expect(describeErrors(errors, { color: false })).to.not.contain('hunter2');
    }), { numRuns: 80 * RUNS });
  });

  test('nested as deep as one likes is refused in good time', () => {
    const laughs = ['a: &a0 [x, x]', ...Array.from({ length: 40 }, (_, index) => `b${index}: &a${index + 1} [*a${index}, *a${index}]`), 'http: { trusted_proxies: *a40 }'].join('\n');
    const nested = (open: string, close: string, depth: number) => `http: { trusted_proxies: ${open.repeat(depth)}${close.repeat(depth)} }`;
    for (const text of [nested('[', ']', 90), nested('[', ']', 300), nested('[', ']', 1_500), nested('{ a: ', ' }', 1_000), nested('[', '', 200), laughs]) {
      const { errors } = check(text);
      expect(errors.length, text.slice(0, 20)).to.be.at.least(1);
    }
  });
});
