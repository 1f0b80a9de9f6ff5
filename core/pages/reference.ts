import type { AsyncApi } from '../contracts/asyncapi.ts';
import type { OpenApi } from '../contracts/openapi.ts';
import type { JsonSchema } from '../contracts/schema.ts';
import type { Texts } from '../texts/texts.ts';
import type { ShownExamples } from './examples/registry.ts';
import { sectionsOf, type DescribedPlugin, type Section } from './groups.ts';
import { describeOperation, listOperations, type ListedOperation } from './operation.ts';
import { fieldsOf, lastOf, wordsFor } from './shape.ts';

export interface ReferenceContext {
  api: OpenApi;
  streams: AsyncApi;
  plugins: DescribedPlugin[];
  /** By operation id. */
  examples: Map<string, ShownExamples>;
}

export interface Group {
  name: string;
  title: string;
  summary: string;
  sections: Section<ListedOperation>[];
  hasSections: boolean;
  total: number;
}

/** Returns the operations of each plugin and of core, in the order of their tags. */
export function groupsOf({ api, plugins }: Pick<ReferenceContext, 'api' | 'plugins'>, t: Texts): Group[] {
  const operations = listOperations(api);
  return api.tags.map(({ name }) => {
    const { reference, summary = '' } = plugins.find((plugin) => plugin.name === name) ?? {};
    const own = operations.filter(({ group }) => group === name);
    const isCore = name === 'core';
    const sections = isCore ? [{ id: 'section-core', title: t('docs.core'), operations: own }] : sectionsOf(own, name, reference ?? {}, t);
    return {
      name,
      title: isCore ? t('docs.core') : reference ? t.declared(name, 'reference.title', reference.title) : name,
      summary: isCore ? t('docs.core_summary') : t.declared(name, 'summary', summary),
      sections,
      hasSections: sections.length > 1,
      total: own.length,
    };
  });
}

/** Returns what the overview shows. */
export function overview(context: ReferenceContext, t: Texts): object {
  const groups = groupsOf(context, t);
  const [first] = groups[0]?.sections[0]?.operations ?? [];
  return {
    groups,
    total: groups.reduce((sum, { total }) => sum + total, 0),
    hasStreams: Object.keys(context.streams.channels).length > 0,
    url: context.api.servers[0]!.url,
    example: first && context.examples.get(first.id)!.examples[0],
  };
}

/** Returns what the page of a group shows; null when no group has that name. */
export function groupPage(context: ReferenceContext, name: string, t: Texts): object | null {
  const { api, streams, examples } = context;
  const groups = groupsOf(context, t);
  const group = groups.find((one) => one.name === name);
  if (!group) return null;
  const ids = new Set(group.sections.flatMap(({ operations }) => operations.map(({ id }) => id)));
  const channels = Object.entries(streams.channels).filter(([id]) => ids.has(id)).map(([id, channel]) => describeChannel(streams, id, channel, t));
  return {
    ...group,
    groups: groups.map((one) => ({ name: one.name, title: one.title, isHere: one === group })),
    sections: group.sections.map((section) => ({ ...section, operations: section.operations.map((operation) => describeOperation(api, operation, examples.get(operation.id)!, t)) })),
    channels,
    schemas: schemasOf(context, ids).map(([schema, json]) => ({ name: schema, description: json.description, fields: fieldsOf(json, t), words: wordsFor(json, t) })),
  };
}

function describeChannel(streams: AsyncApi, id: string, channel: AsyncApi['channels'][string], t: Texts): object {
  const messages = Object.values(streams.operations).filter((operation) => operation.channel.$ref === `#/channels/${id}`).flatMap((operation) =>
    operation.messages.map(({ $ref }) => {
      const message = streams.components.messages[channel.messages[lastOf($ref)]!.$ref.slice('#/components/messages/'.length)]!;
      const direction = t(operation.action === 'send' ? 'docs.from_server' : 'docs.to_server');
      return { name: message.name, direction, summary: message.summary, words: wordsFor(message.payload, t), fields: fieldsOf(message.payload, t) };
    }));
  const isSocket = channel.servers[0]!.$ref.endsWith('sockets');
  return { id, address: channel.address, title: channel.title, subprotocol: channel['x-subprotocol'], protocol: t(isSocket ? 'docs.socket' : 'docs.events'), messages };
}

/** Returns the named schemas that operations and their streams refer to, also through other schemas. */
function schemasOf({ api, streams }: ReferenceContext, ids: Set<string>): [string, JsonSchema][] {
  const named: Record<string, JsonSchema> = { ...streams.components.schemas, ...api.components.schemas };
  const found = new Set<string>();
  const collect = (value: unknown): void => {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (found.has(name!) || !named[name!]) continue;
      found.add(name!);
      collect(named[name!]);
    }
  };
  for (const item of Object.values(api.paths)) for (const operation of [item.get, item.post, item.put, item.patch, item.delete]) if (operation && ids.has(operation.operationId)) collect(operation);
  for (const [id, channel] of Object.entries(streams.channels)) if (ids.has(id)) for (const { $ref } of Object.values(channel.messages)) collect(streams.components.messages[lastOf($ref)]);
  return [...found].sort().map((name) => [name, named[name]!]);
}
