import type { Terminal } from 'civic';
import type { ShownCandidate } from 'civic/discovery';
import { plain, valueWords, wrap } from './words.ts';

const MOST_CLAIMS = 12;
const LONGEST_PASSAGE = 300;
const LABEL = 14;

/** Returns a candidate as the lines of a screen: who it is, what is claimed with the passage of each claim, and the actor that it may be. */
export function candidateLines({ type, name, score, claims, sources, match }: ShownCandidate, { width, position, location, style }: { width: number; position: string; location: string; style: Terminal['style'] }): string[] {
  const urls = new Map(sources.map(({ local_id, url }) => [local_id, url]));
  const shown = claims.slice(0, MOST_CLAIMS);
  return [
    ...wrap(`Candidate ${position}, ${location}`, width).map((line) => style('dim', line)),
    '',
    ...wrap(name, width).map((line) => style('bold', line)),
    `${type}, score ${score.toFixed(2)}`,
    ...shown.flatMap((claim) => ['', ...claimLines(claim, urls.get(claim.source_local_id) ?? '', width, style)]),
    ...(claims.length > shown.length ? ['', `… and ${claims.length - shown.length} more claims`] : []),
    ...(match ? ['', ...wrap(`May be ${match.name} (score ${match.score.toFixed(2)}), because:`, width).map((line) => style('yellow', line)), ...match.reasons.flatMap((reason) => wrap(`- ${reason}`, width, '  '))] : ['', 'No known actor matches.']),
  ];
}

function claimLines({ property, value, excerpt }: ShownCandidate['claims'][number], url: string, width: number, style: Terminal['style']): string[] {
  const [first = '', ...more] = wrap(valueWords(value), width - LABEL);
  const passage = plain(excerpt ?? '').slice(0, LONGEST_PASSAGE);
  const indent = ' '.repeat(LABEL);
  return [
    `${style('cyan', property.padEnd(LABEL - 1))} ${first}`,
    ...more.map((line) => indent + line),
    ...(passage === '' ? [] : wrap(`“${passage}”`, width, indent)),
    ...wrap(url, width, indent).map((line) => style('dim', line)),
  ];
}
