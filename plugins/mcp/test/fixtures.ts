import { INVALID_PARAMS, MissingResource, RpcError } from '../errors.ts';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import type { Offer } from '../offer.ts';

/** The tools, resources and prompts that the conformance suite calls by name. */

const MISSING_CAPABILITY = -32021;
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const image: ContentBlock = { type: 'image', data: PNG, mimeType: 'image/png' };
const embedded = (uri: string, mimeType: string, words: string): ContentBlock => ({ type: 'resource', resource: { uri, mimeType, text: words } });

const RESULTS: Record<string, CallToolResult> = {
  test_simple_text: { content: [text('This is a simple text response for testing.')] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] },
  test_embedded_resource: { content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')] },
  test_multiple_content_types: { content: [text('Multiple content types test:'), image, embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}')] },
  test_error_handling: { content: [text('This tool intentionally returns an error for testing')], isError: true },
  json_schema_2020_12_tool: { content: [text('ok')] },
  test_logging_tool: { content: [text('Nothing was logged.')] },
  test_streaming_elicitation: { content: [text('Nothing was asked.')] },
  test_missing_capability: { content: [] },
};

/** Keywords that must reach the client unchanged. As text: an object with a member `then` could be taken for a promise. */
const SCHEMA_2020_12 = JSON.parse(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": { "address": { "$anchor": "addressDef", "type": "object", "properties": { "street": { "type": "string" }, "city": { "type": "string" } } } },
  "properties": {
    "name": { "type": "string" }, "address": { "$ref": "#/$defs/address" }, "contactMethod": { "type": "string", "enum": ["phone", "email"] }, "phone": { "type": "string" }, "email": { "type": "string" }
  },
  "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
  "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
  "then": { "required": ["phone"] },
  "else": { "required": ["email"] },
  "additionalProperties": false
}`) as { type: 'object' };

const PROMPTS: Record<string, { arguments: string[]; messages(given: Record<string, string>): ContentBlock[] }> = {
  test_simple_prompt: { arguments: [], messages: () => [text('This is a simple prompt for testing.')] },
  test_prompt_with_arguments: { arguments: ['arg1', 'arg2'], messages: ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] },
  test_prompt_with_embedded_resource: { arguments: ['resourceUri'], messages: ({ resourceUri }) => [embedded(resourceUri!, 'text/plain', 'Embedded resource content for testing.'), text('Please process the embedded resource above.')] },
  test_prompt_with_image: { arguments: [], messages: () => [image, text('Please analyze the image above.')] },
};

export const fixtures: Offer = {
  info: { name: 'fixtures', title: 'Fixtures', version: '1', websiteUrl: 'https://example.org' },
  instructions: 'For tests only.',
  tools: () => Object.keys(RESULTS).map((name) => ({ name, description: `The fixture ${name}`, inputSchema: name === 'json_schema_2020_12_tool' ? SCHEMA_2020_12 : { type: 'object' } })),
  // The error of test_missing_capability is one of JSON-RPC, which the SDKs send.
  hasTool: (name) => name in RESULTS && name !== 'test_missing_capability',
  async call(name) {
    if (name === 'test_missing_capability') throw new RpcError(MISSING_CAPABILITY, 'This needs sampling', { requiredCapabilities: { sampling: {} } });
    if (!RESULTS[name]) throw new RpcError(INVALID_PARAMS, `There is no tool ${name}`);
    return RESULTS[name];
  },
  resources: () => [
    { uri: 'test://static-text', name: 'text', description: 'A static text', mimeType: 'text/plain' },
    { uri: 'test://static-binary', name: 'binary', description: 'A static image', mimeType: 'image/png' },
  ],
  templates: () => [{ uriTemplate: 'test://template/{id}/data', name: 'template', description: 'A template', mimeType: 'application/json' }],
  async read(uri) {
    if (uri === 'test://static-text') return { contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }] };
    if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: PNG }] };
    const id = /^test:\/\/template\/(\w+)\/data$/.exec(uri)?.[1];
    if (id === undefined) throw new MissingResource(uri, `There is no resource ${uri}`);
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }] };
  },
  prompts: () => Object.entries(PROMPTS).map(([name, prompt]) => ({ name, description: `The fixture ${name}`, arguments: prompt.arguments.map((argument) => ({ name: argument, description: argument, required: true })) })),
  async prompt(name, given) {
    const prompt = PROMPTS[name];
    if (!prompt) throw new RpcError(INVALID_PARAMS, `There is no prompt ${name}`);
    return { description: name, messages: prompt.messages(given as Record<string, string>).map((content) => ({ role: 'user', content })) };
  },
};
