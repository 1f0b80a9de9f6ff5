import { prepareMaps } from './map/prepare.ts';

/** Called at the end of a build; `previous` is the folder of this plugin in the previous build. */
export async function build(previous: string): Promise<void> {
  await prepareMaps(`${previous}/map`);
}
