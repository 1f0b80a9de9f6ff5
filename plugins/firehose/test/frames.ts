import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

interface Document {
  components: { messages: Record<string, { name: string; payload: object }>; schemas: Record<string, object> };
}

/** How messages that were received differ from what an AsyncAPI document says of them. */
export function frameFaults({ components }: Document, frames: { name: string; payload: unknown }[]): string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  const checks = new Map(Object.values(components.messages).map(({ name, payload }) => [name, ajv.compile({ ...payload, components })]));
  return frames.flatMap(({ name, payload }) => {
    const check = checks.get(name);
    if (!check) return [`${name} is no message of the document`];
    return check(payload) ? [] : [`${name}: ${ajv.errorsText(check.errors)}`];
  });
}
