import type { Query } from '../types.ts';
import { USUAL_SIGNALS } from './schemas.ts';

/** The parameters of a query in their one form: sorted, and without what is asked anyway. */
export function parametersOf(query: Query): URLSearchParams {
  const parameters = new URLSearchParams();
  const add = (name: string, values: string[]) => { for (const value of values) parameters.append(name, value); };
  add('place', query.places);
  add('issue', query.issues);
  add('actor_type', query.actor_types);
  add('signal_type', query.signal_types);
  add('source_class', query.source_classes);
  if (query.visibility !== 'workspace') parameters.set('visibility', query.visibility);
  if (query.since !== null) parameters.set('since', query.since);
  if (query.until !== null) parameters.set('until', query.until);
  return parameters;
}

/** With what is about pages. */
export function pageParametersOf(query: Query): URLSearchParams {
  const parameters = parametersOf(query);
  if (query.limit !== USUAL_SIGNALS) parameters.set('limit', String(query.limit));
  if (query.sort !== 'detected_at_desc') parameters.set('sort', query.sort);
  if (query.cursor !== null) parameters.set('cursor', query.cursor);
  return parameters;
}

export function addressOf(path: string, parameters: URLSearchParams): string {
  // A comma is part of every place key and needs no mask.
  const text = parameters.toString().replaceAll('%2C', ',').replaceAll('%3A', ':');
  return text === '' ? path : `${path}?${text}`;
}
