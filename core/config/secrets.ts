import { MASK, optionValues } from './report.ts';
import type { ConfigFragment, CoreConfig } from './types.ts';

const KEY = /(civic_[0-9A-Za-z]{8}_)[0-9A-Za-z]{49}/g;
const LOGIN = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi;
const CREDENTIAL = /\b((?:Bearer|Basic)\s+)[\w.~+/=-]{8,}/gi;
const SHORTEST = 4;

/** Returns a function that masks secrets in texts for operators, such as messages of errors: values of secret options, logins in URLs, API keys and credentials. */
export function createMask(config: CoreConfig, schema: ConfigFragment = {}): (text: string) => string {
  const values = optionValues(config, schema).filter(({ isSecret }) => isSecret).map(({ value }) => value);
  // The longest first: one secret may contain another.
  const secrets = values.filter((value): value is string => typeof value === 'string' && value.length >= SHORTEST).toSorted((a, b) => b.length - a.length);
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text)
    .replace(LOGIN, `$1${MASK}@`).replace(KEY, `$1${MASK}`).replace(CREDENTIAL, `$1${MASK}`);
}
