import { prepareGazetteer } from './places/prepared.ts';
import { prepareTaxonomy } from './taxonomy/file.ts';

/** Called at the end of a build; `previous` is the folder of this plugin in the build before. */
export async function build(previous: string): Promise<void> {
  prepareGazetteer(`${previous}/places`);
  prepareTaxonomy();
}
