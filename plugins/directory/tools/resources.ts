import type { Resource } from 'civic';
import type { DirectoryContext } from '../actors/context.ts';
import { placeCoverage } from '../actors/place-reads.ts';
import { actorDetail, shownActor } from '../actors/reads.ts';
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
        const { body } = await actorDetail(context, (reader) => shownActor(reader, caller, id!, civic.url));
        const { data, json } = detailPage(body, { id: id! }, maxBytes);
        return json ?? JSON.stringify(data);
      },
    },
    {
      uri: 'civic://places/{place_key}/coverage',
      name: 'place_coverage',
      title: 'Coverage of a place',
      description: 'What the directory has about a place, and which issue areas are covered, thin or missing, as JSON.',
      read: async ({ place_key: key }) => (await placeCoverage(context, await placeOfPath(places, civic.db, key!))).body,
    },
  ];
}
