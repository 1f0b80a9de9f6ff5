import { Failure } from 'civic';
import type { Format, ReadContext, Row } from './format.ts';
import type { TextFile } from './file.ts';
import { cleanText, rowOrFault, startRow } from './row.ts';
import { csvRows } from './table.ts';

const NEEDED = ['EIN', 'NAME', 'CITY', 'STATE'];

export const irs: Format = {
  name: 'irs',
  summary: 'Exempt organizations of the US tax office (EO BMF extract, CSV)',
  type: 'text/csv',
  extension: '.csv',
  source: {
    url: 'https://www.irs.gov/charities-non-profits/exempt-organizations-business-master-file-extract-eo-bmf',
    title: 'Exempt Organizations Business Master File Extract',
    publication: 'Internal Revenue Service',
  },
  reads,
};

async function* reads(file: TextFile, context: ReadContext): AsyncIterable<Row> {
  for await (const { number, cells, fault, raw } of csvRows(file, checkHeader)) {
    yield fault ? { number, raw, fault } : await rowOrFault(number, raw, () => organization(number, cells, context));
  }
}

function checkHeader(header: string[]): void {
  const missing = NEEDED.filter((column) => !header.includes(column));
  if (missing.length > 0) throw new Failure(`This is not an IRS EO BMF file: its first row has no column ${missing.join(', ')}`);
}

async function organization(number: number, cells: Record<string, string>, context: ReadContext): Promise<Row> {
  const ein = einOf(cells.EIN);
  if (!ein) return { number, raw: cells, fault: `its EIN is not a number of up to 9 digits: "${(cells.EIN ?? '').slice(0, 40)}"` };
  const row = startRow({ number, raw: cells, type: 'organization', origin: `irs:${ein}` }, context);
  const name = cleanText(cells.NAME)?.replace(/\s+/g, ' ');
  row.say('name', name, { excerpt: `EIN ${ein}, ${name}, ${cells.CITY}, ${cells.STATE}` });
  row.say('identifier', { scheme: 'ein', value: ein });
  if (cells.CITY && cells.STATE) await row.sayPlace(`${cells.CITY.trim()}, ${cells.STATE.trim()}`);
  for (const slug of issueAreasOf(cells.NTEE_CD ?? '').filter(context.hasIssueArea)) row.say('issue_area', slug, { confidence: 0.5, excerpt: `NTEE ${cells.NTEE_CD}` });
  return row.row();
}

/** Spreadsheets drop its leading zeros. */
function einOf(value: string | undefined): string | null {
  const digits = cleanText(value)?.replaceAll('-', '') ?? '';
  if (!/^\d{1,9}$/.test(digits) || /^0+$/.test(digits)) return null;
  const whole = digits.padStart(9, '0');
  return `${whole.slice(0, 2)}-${whole.slice(2)}`;
}

/** A first guess by the letter of the National Taxonomy of Exempt Entities, finer where its first digit says more. */
const NTEE: Record<string, string[]> = {
  B: ['education_funding_and_policy'],
  B2: ['k12_education_inequality'],
  B3: ['vocational_and_alternative_pathways'],
  B4: ['higher_education_affordability'],
  B5: ['higher_education_affordability'],
  B8: ['higher_education_affordability'],
  C: ['environmental_justice_and_pollution'],
  E: ['healthcare_access_and_coverage'],
  F: ['mental_health_crisis_and_access'],
  F2: ['addiction_and_harm_reduction'],
  G: ['community_health_infrastructure'],
  I: ['criminal_justice_reform_and_mass_incarceration'],
  J: ['vocational_and_alternative_pathways'],
  J4: ['union_organizing'],
  K: ['sustainable_agriculture_and_food_systems'],
  L: ['housing_affordability'],
  L4: ['homelessness_and_housing_insecurity'],
  M2: ['climate_adaptation_and_resilience'],
  R: ['local_government_and_civic_engagement'],
  R4: ['voter_suppression_and_electoral_access'],
  S: ['local_government_and_civic_engagement'],
  W4: ['transportation_and_mobility'],
  W5: ['broadband_access_and_digital_divide'],
};

function issueAreasOf(code: string): string[] {
  const ntee = code.trim().toUpperCase();
  return NTEE[ntee.slice(0, 2)] ?? NTEE[ntee.slice(0, 1)] ?? [];
}
