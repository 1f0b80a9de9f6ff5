import { readFileSync } from 'node:fs';

type Point = [x: number, y: number];

/** What is read of a TopoJSON file of counties. */
interface Topology {
  transform: { scale: Point; translate: Point };
  arcs: Point[][];
  objects: { counties: { geometries: ({ id: string; type: 'Polygon'; arcs: number[][] } | { id: string; type: 'MultiPolygon'; arcs: number[][][] } | { id: string; type: null })[] } };
}

/** Returns a function that finds the five-digit number of the county at a longitude and latitude. */
export function countyFinder(file: string): (longitude: number, latitude: number) => string | null {
  const { transform: { scale, translate }, arcs: packed, objects } = JSON.parse(readFileSync(file, 'utf8')) as Topology;
  const arcs = packed.map((arc) => {
    let [x, y] = [0, 0];
    return arc.map(([dx, dy]): Point => [(x += dx) * scale[0] + translate[0], (y += dy) * scale[1] + translate[1]]);
  });
  const ringOf = (indexes: number[]) => indexes.flatMap((index) => (index < 0 ? arcs[~index]!.toReversed() : arcs[index]!));
  const counties = objects.counties.geometries.map((geometry) => {
    const polygons = geometry.type === null ? [] : geometry.type === 'Polygon' ? [geometry.arcs] : geometry.arcs;
    const rings = polygons.flat().map(ringOf);
    const [xs, ys] = [rings.flat().map(([x]) => x), rings.flat().map(([, y]) => y)];
    return { id: geometry.id, rings, west: Math.min(...xs), east: Math.max(...xs), south: Math.min(...ys), north: Math.max(...ys) };
  });
  return (x, y) => counties.find(({ rings, west, east, south, north }) => x >= west && x <= east && y >= south && y <= north
    && rings.reduce((isInside, ring) => isInside !== crosses(ring, x, y), false))?.id ?? null;
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
