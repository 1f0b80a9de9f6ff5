import type { ClaimValue, ClaimValues } from '../types.ts';

/** A value as it is stored and compared: the same value always gives the same text. */
export function valueText(value: ClaimValue): string {
  return JSON.stringify(typeof value === 'object' ? inOrder(value) : value);
}

function inOrder(value: Exclude<ClaimValue, string>): object {
  if ('scheme' in value) return { scheme: value.scheme, value: value.value } satisfies ClaimValues['identifier'];
  if ('network' in value) return { network: value.network, url: value.url } satisfies ClaimValues['social'];
  const { entity_id, name, role, since, until } = value;
  return { entity_id, name, role, since, until } satisfies ClaimValues['affiliation'];
}
