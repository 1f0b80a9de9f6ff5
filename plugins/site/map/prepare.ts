import { geoCentroid, geoConicEqualArea, geoPath, type GeoProjection } from 'd3-geo';
import type { Feature, FeatureCollection } from 'geojson';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import { DRAWN, type DrawnMap } from './drawn.ts';
import { pathWriter } from './shape.ts';

type Atlas = Topology<Record<'states' | 'counties', GeometryCollection<{ name: string }>>>;
type Area = Feature<GeoJSON.Geometry, { name: string }>;

const require = createRequire(import.meta.url);
const folder = import.meta.dirname;
/** The size of a map of counties. */
const WIDTH = 560;
const HEIGHT = 500;

/** Writes the maps beside this module, or copies those of the previous build when neither the code of this folder nor the data has changed. */
export async function prepareMaps(previous: string): Promise<void> {
  const target = join(folder, DRAWN);
  const key = inputKey();
  const old = join(previous, DRAWN);
  if (existsSync(join(old, 'key')) && readFileSync(join(old, 'key'), 'utf8') === key) {
    cpSync(old, target, { recursive: true });
    return;
  }
  mkdirSync(target, { recursive: true });
  const write = (name: string, map: DrawnMap): void => { writeFileSync(join(target, `${name}.json`), JSON.stringify(map)); };
  write('us', drawStates());
  for (const [state, map] of drawCounties()) write(state, map);
  writeFileSync(join(target, 'key'), key);
}

/** Draws the states. Their data is already projected, with Alaska and Hawaii below the others. */
function drawStates(): DrawnMap {
  const atlas = readAtlas('states-albers-10m');
  return draw(areasOf(atlas, 'states'), null);
}

function drawCounties(): [state: string, map: DrawnMap][] {
  const atlas = readAtlas('counties-10m');
  const counties = areasOf(atlas, 'counties');
  return areasOf(atlas, 'states').map((state) => [String(state.id), draw(counties.filter(({ id }) => String(id).startsWith(String(state.id))), projectionOf(state))]);
}

function projectionOf(state: Area): GeoProjection {
  const [longitude, latitude] = geoCentroid(state);
  return geoConicEqualArea().parallels([latitude - 4, latitude + 4]).rotate([-longitude, 0]).fitSize([WIDTH, HEIGHT], state);
}

function draw(areas: Area[], projection: GeoProjection | null): DrawnMap {
  const collection: FeatureCollection = { type: 'FeatureCollection', features: areas };
  const path = geoPath(projection);
  const [[left, top], [right, bottom]] = path.bounds(collection);
  const write = pathWriter(path);
  const [x, y] = [Math.floor(left) - 1, Math.floor(top) - 1];
  return {
    box: `${x} ${y} ${Math.ceil(right) + 1 - x} ${Math.ceil(bottom) + 1 - y}`,
    areas: areas.map((area) => ({ id: String(area.id), name: area.properties.name, path: write(area) })).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

function areasOf(atlas: Atlas, kind: 'states' | 'counties'): Area[] {
  return feature(atlas, atlas.objects[kind]).features;
}

function readAtlas(name: string): Atlas {
  return JSON.parse(readFileSync(atlasFile(name), 'utf8')) as Atlas;
}

const atlasFile = (name: string): string => require.resolve(`us-atlas/${name}.json`);

/** Returns a hash of the modules of this folder and of the data. */
function inputKey(): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.js')).sort()) hash.update(readFileSync(join(folder, file)));
  for (const name of ['states-albers-10m', 'counties-10m']) hash.update(readFileSync(atlasFile(name)));
  return hash.digest('hex');
}
