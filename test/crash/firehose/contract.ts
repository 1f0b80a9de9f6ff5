import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** What the instance itself says its messages and snapshots look like. */
export interface Contract {
  /** Why a message does not fit; null when it does. */
  messageFault(event: string, data: unknown): string | null;
  snapshotFault(body: unknown): string | null;
}

export async function readContract(url: string): Promise<Contract> {
  const document = async (name: string): Promise<any> => (await fetch(`${url}/${name}.json`)).json();
  const [asyncapi, openapi] = await Promise.all([document('asyncapi'), document('openapi')]);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ ...asyncapi, $id: 'asyncapi' }, 'asyncapi').addSchema({ ...openapi, $id: 'openapi' }, 'openapi');
  const faultOf = (pointer: string, what: string, value: unknown): string | null => {
    const validate = ajv.getSchema(pointer);
    if (!validate) return `${what} is not described`;
    return validate(value) ? null : `${what} does not fit its schema: ${ajv.errorsText(validate.errors).slice(0, 300)}`;
  };
  return {
    messageFault: (event, data) => faultOf(`asyncapi#/components/messages/${event}/payload`, `the message ${event}`, data),
    snapshotFault: (body) => faultOf('openapi#/paths/~1api~1firehose/get/responses/200/content/application~1json/schema', 'the snapshot', body),
  };
}
