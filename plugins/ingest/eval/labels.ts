import { Failure } from 'civic';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import type { Label, LabelledFile } from './score.ts';

export interface Labels {
  time_zone: string | null;
  files: LabelledFile[];
}

const PAGES = ['.html', '.htm', '.ics', '.json', '.xml', '.pdf', '.rss', '.atom', '.txt'];

/** Reads a file of labels: `{"time_zone": …, "samples": {"page.html": "the first 10"}, "files": {"page.html": [[title, start, place, status], …]}}`. */
export function labelsIn(path: string): Labels {
  const { time_zone: zone = null, samples = {}, files } = parse(path) as { time_zone?: string | null; samples?: Record<string, string>; files?: Record<string, unknown> };
  if (typeof files !== 'object') throw new Failure(`${path} has no "files"`);
  return { time_zone: zone, files: Object.entries(files).map(([file, labels]) => ({ file, labels: labelsOf(labels, `${path}, ${file}`), isSample: file in samples })) };
}

/** Finds the labels of a folder: in `labels.json`, beside each page as `page.labels.json`, or as `labels/page.json`. */
export function labelsOfFolder(folder: string): Labels {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw new Failure(`No folder is at ${folder}`);
  const common = join(folder, 'labels.json');
  if (existsSync(common)) return labelsIn(common);
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => PAGES.includes(extname(file)) && !file.endsWith('.labels.json') && !/(?:^|[\\/])labels[\\/]/.test(file)).toSorted();
  const files = pages.flatMap((file) => {
    const path = labelFile(join(folder, file));
    return path ? [{ file, labels: labelsOf(parse(path), relative(folder, path)), isSample: false }] : [];
  });
  if (files.length === 0) throw new Failure(`${folder} has no labels: write labels.json, page.labels.json beside a page, or labels/page.json`);
  return { time_zone: null, files };
}

function labelFile(page: string): string | null {
  const name = basename(page, extname(page));
  return [`${page}.labels.json`, join(dirname(page), `${name}.labels.json`), join(dirname(page), 'labels', `${basename(page)}.json`), join(dirname(page), 'labels', `${name}.json`)].find((path) => existsSync(path)) ?? null;
}

function parse(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as unknown;
  } catch (error) {
    throw new Failure(`${path} is no JSON: ${(error as Error).message}`);
  }
}

function labelsOf(value: unknown, where: string): Label[] {
  if (!Array.isArray(value)) throw new Failure(`${where}: expected a list of events`);
  return value.map((event: unknown) => {
    const [title, start, place = null, status = 'confirmed'] = Array.isArray(event) ? event as Partial<Label> : [];
    if (typeof title !== 'string' || !start || ![start].flat().every((one) => /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2})?$/.test(one))) {
      throw new Failure(`${where}: ${JSON.stringify(event).slice(0, 200)} is not [title, start, place, status] with a start such as 2026-02-01T18:00`);
    }
    return [title, start, place, status];
  });
}
