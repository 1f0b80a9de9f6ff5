import type { Texts } from 'civic';
import type { Usage } from '../service.ts';

export interface Plot {
  width: number;
  height: number;
  /** Where the ground line lies. */
  ground: number;
  left: number;
  right: number;
  bars: { x: number; y: number; width: number; height: number; day: string; requests: number }[];
  lines: { y: number; label: string }[];
  first: string;
}

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [720, 240, 66, 14, 34];

/** Returns requests a day as bars: the page needs no script to draw them. */
export function plotOf(days: Usage['days'], t: Texts): Plot {
  const top = roundUp(Math.max(4, ...days.map(({ requests }) => requests)));
  const ground = HEIGHT - BOTTOM;
  const tall = ground - TOP;
  const step = (WIDTH - LEFT) / Math.max(1, days.length);
  const bar = Math.max(2, step * 0.7);
  const heightOf = (requests: number): number => (requests === 0 ? 0 : Math.max(2, (requests / top) * tall));
  return {
    width: WIDTH, height: HEIGHT, ground, left: LEFT, right: WIDTH,
    bars: days.map(({ day, requests }, index) => ({
      x: round(LEFT + index * step + (step - bar) / 2), y: round(ground - heightOf(requests)), width: round(bar), height: round(heightOf(requests)),
      day: t.formatDate(day), requests,
    })),
    lines: [0, 0.5, 1].map((part) => ({ y: round(ground - part * tall), label: shortNumber(top * part, t) })),
    first: days[0] ? t.formatDate(days[0].day) : '',
  };
}

/** 200K: the axis has little room. */
function shortNumber(value: number, { language }: Texts): string {
  return value.toLocaleString(language === 'es' ? 'es-US' : 'en-US', { notation: 'compact' });
}

/** A number people like to read at the end of an axis: 1, 2 or 5 and zeros. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 10].map((step) => step * power).find((step) => step >= value)!;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
