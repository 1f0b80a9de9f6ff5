import type { Server } from '@hapi/hapi';
import { layOutJson, shortened } from '../layout.ts';
import { needsCaller, pathOf, type Located } from './call.ts';
import type { Example } from './types.ts';

/** Longer responses, such as contracts and exports, are not shown. */
const MOST_BYTES = 200_000;

/**
 * Returns the beginning of the response to an example that reads public JSON, as an anonymous caller gets it; undefined for other
 * examples and when the request fails.
 */
export async function responseTo(server: Server, { method, path, operation }: Located, example: Example): Promise<string | undefined> {
  const content = (operation.responses['200'] as { content?: object } | undefined)?.content ?? {};
  const isJson = Object.keys(content).some((type) => /[/+]json$/.test(type));
  if (method !== 'get' || !isJson || needsCaller(operation) || example.given || example.variables || example.manual || example.seconds) return undefined;
  const { statusCode, headers, payload } = await server.inject({ url: server.app.civic.basePath + pathOf(path, example), headers: { accept: 'application/json' }, app: { isExample: true } });
  if (statusCode !== 200 || payload.length > MOST_BYTES || !/[/+]json\b/.test(String(headers['content-type']))) return undefined;
  return layOutJson(shortened(JSON.parse(payload)));
}
