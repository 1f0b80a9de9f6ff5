import { fitData, type Resource } from 'civic';
import type { DirectoryContext } from '../actors/context.ts';
import { placeCoverage } from '../actors/place-reads.ts';
import { shownActor } from '../actors/reads.ts';
import { placeOfPath } from '../places/routes.ts';
import { detailPage } from './detail.ts';

export function directoryResources(context: DirectoryContext): Resource[] {
  const { civic, places } = context;
  return [
    {
      uri: 'civic://entities/{id}',
      name: 'entity',
      title: 'Actor',
      description: 'One civic actor with its claims and their sources, as JSON.',
      async read({ id }, { caller, maxBytes }) {
        const { data, json } = await detailPage(context, (reader) => shownActor(reader, caller, id!, civic.url), { id: id! }, maxBytes);
        return json ?? JSON.stringify(data);
      },
    },
    {
      uri: 'civic://places/{place_key}/coverage',
      name: 'place_coverage',
      title: 'Coverage of a place',
      description: 'What the directory has about a place, and which issue areas are covered, thin or missing, as JSON.',
      async read({ place_key: key }, { maxBytes }) {
        const { body } = await placeCoverage(context, await placeOfPath(places, civic.db, key!));
        return JSON.stringify(fitData(JSON.parse(body) as object, maxBytes));
      },
    },
  ];
}
