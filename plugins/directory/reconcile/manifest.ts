import type { PageLinks } from '../links.ts';
import { TYPES } from './properties.ts';

/** The size of the frame in which previews are shown. */
const FRAME = { width: 430, height: 240 };

/** What a client reads first: versions 0.1 and 0.2 of the Reconciliation Service API. */
export function manifestOf({ name, version, url, links }: { name: string; version: string; url: (path: string) => string; links: PageLinks }): object {
  const service = url('/reconcile');
  const suggest = (what: string) => ({ service_url: service, service_path: `/suggest/${what}`, flyout_service_url: service, flyout_service_path: `/flyout/${what}?id=\${id}` });
  return {
    versions: ['0.1', '0.2'],
    name: `${name}: civic actors`,
    identifierSpace: url('/api/entities/'),
    schemaSpace: url('/reconcile/types/'),
    documentation: url('/docs'),
    serviceVersion: version,
    defaultTypes: TYPES.map(({ id, name }) => ({ id, name })),
    view: { url: links.actor('{{id}}') },
    preview: { url: url('/reconcile/preview?id={{id}}'), ...FRAME },
    suggest: { entity: suggest('entity'), type: suggest('type'), property: suggest('property') },
    extend: { propose_properties: { service_url: service, service_path: '/properties' }, property_settings: [] },
  };
}
