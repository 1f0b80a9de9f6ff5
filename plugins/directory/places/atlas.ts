import { readFileSync } from 'node:fs';

type Point = [x: number, y: number];

type Geometry = { id: string; properties: { name: string } } & ({ type: 'Polygon'; arcs: number[][] } | { type: 'MultiPolygon'; arcs: number[][][] } | { type: null });

/** What is read of a TopoJSON file of counties. */
interface Topology {
  transform: { scale: Point; translate: Point };
  arcs: Point[][];
  objects: { counties: { geometries: Geometry[] } };
}

/** A county or a city that belongs to none. */
export interface CountyShape {
  /** The five-digit federal number; the first two are those of the state. */
  id: string;
  name: string;
  /** The middle of its bounding box. */
  latitude: number;
  longitude: number;
  contains(longitude: number, latitude: number): boolean;
}

/** Returns the counties of a TopoJSON file. */
export function readCounties(file: string): CountyShape[] {
  const { transform: { scale, translate }, arcs: packed, objects } = JSON.parse(readFileSync(file, 'utf8')) as Topology;
  const arcs = packed.map((arc) => {
    let [x, y] = [0, 0];
    return arc.map(([dx, dy]): Point => [(x += dx) * scale[0] + translate[0], (y += dy) * scale[1] + translate[1]]);
  });
  const ringOf = (indexes: number[]) => indexes.flatMap((index) => (index < 0 ? arcs[~index]!.toReversed() : arcs[index]!));
  return objects.counties.geometries.map((geometry): CountyShape => {
    const polygons = geometry.type === null ? [] : geometry.type === 'Polygon' ? [geometry.arcs] : geometry.arcs;
    const rings = polygons.flat().map(ringOf);
    const [xs, ys] = [rings.flat().map(([x]) => x), rings.flat().map(([, y]) => y)];
    const [west, east, south, north] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    return {
      id: geometry.id,
      name: geometry.properties.name,
      latitude: (south + north) / 2,
      longitude: (west + east) / 2,
      contains: (x, y) => x >= west && x <= east && y >= south && y <= north && rings.reduce((isInside, ring) => isInside !== crosses(ring, x, y), false),
    };
  });
}

/** Returns a function that finds the five-digit number of the county at a longitude and latitude. */
export function countyFinder(file: string): (longitude: number, latitude: number) => string | null {
  const shapes = readCounties(file);
  return (longitude, latitude) => shapes.find((shape) => shape.contains(longitude, latitude))?.id ?? null;
}

/** Whether a line from the point to the east crosses the ring an odd number of times. */
function crosses(ring: Point[], x: number, y: number): boolean {
  let isOdd = false;
  for (let index = 0, before = ring.length - 1; index < ring.length; before = index++) {
    const [ax, ay] = ring[index]!;
    const [bx, by] = ring[before]!;
    if ((ay > y) !== (by > y) && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) isOdd = !isOdd;
  }
  return isOdd;
}
