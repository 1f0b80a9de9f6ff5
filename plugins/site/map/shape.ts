import type { GeoContext, GeoPath, GeoPermissibleObjects } from 'd3-geo';

type Point = [x: number, y: number];

/** Returns a function that writes an area as SVG path data in whole numbers. Leaves out rings that have fewer than three points after rounding. */
export function pathWriter(path: GeoPath): (area: GeoPermissibleObjects) => string {
  let rings: Point[][] = [];
  const context: GeoContext = {
    beginPath() { rings = []; },
    moveTo(x, y) { rings.push([[Math.round(x), Math.round(y)]]); },
    lineTo(x, y) { rings.at(-1)!.push([Math.round(x), Math.round(y)]); },
    closePath() { /* Every ring is closed by `pathOf`. */ },
    arc() { throw new Error('The map has an area that is a point'); },
  };
  path.context(context);
  return (area) => {
    rings = [];
    path(area);
    return rings.map(pathOf).join('');
  };
}

/** Returns a ring as relative coordinates, which are short and compress well. */
function pathOf(ring: Point[]): string {
  const points = ring.filter(([x, y], index) => index === 0 || x !== ring[index - 1]![0] || y !== ring[index - 1]![1]);
  if (same(points[0]!, points.at(-1)!)) points.pop();
  if (points.length < 3) return '';
  const steps = points.slice(1).map(([x, y], index) => numbers(x - points[index]![0], y - points[index]![1]));
  return `M${numbers(...points[0]!)}l${steps.reduce((text, step) => text + (step.startsWith('-') ? '' : ' ') + step)}z`;
}

const same = ([ax, ay]: Point, [bx, by]: Point): boolean => ax === bx && ay === by;

const numbers = (x: number, y: number): string => (y < 0 ? `${x}${y}` : `${x} ${y}`);
