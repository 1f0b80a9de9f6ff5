import type { Line } from './lines.ts';
import { rangeOf, spansOf, type Token } from './spans.ts';
import type { FoundActor } from './types.ts';
import { LEADS } from './words/labels.ts';

const OFFICES = 'Mayor|Council|City Council|Congress|Senate|Governor|Sheriff|School Board|Assembly|Judge|Alcalde|Alcaldesa|Concejal';
const CAMPAIGNS = [
  /^(?:Vote |Vota |Vote )?(?:Yes|No|S[ií]) (?:on|en|a(?: la)?) (?:the )?[\p{Lu}\d].{0,60}$/u,
  /^(?:Campaign|Campaña) (?:for|to|against|against the|por|para|contra) .{3,80}$/iu,
  /^(?:Committee|Comité) (?:to (?:Elect|Re-elect|Reelect)|para Elegir) .{3,60}$/iu,
  new RegExp(`^\\p{Lu}[\\p{L}.'’-]+(?: \\p{Lu}[\\p{L}.'’-]+){0,3} for (?:${OFFICES})$`, 'u'),
  /^(?!(?:Capital|Annual|Email|E-mail|Mail|Ad|Advertising|Marketing|Media|Our|The|This|Political|New|Current|Fundraising) )\p{Lu}.{2,60} (?:Campaign|Campaña)$/u,
];
const INITIATIVES = [
  /^(?!(?:The|Our|This|Ballot|New|Key|Strategic|Current|An?) Initiative$)(?:The )?\p{Lu}.{2,80} Initiative$/u,
  /^(?:The )?(?:Initiative (?:for|to|on|against)|Iniciativa (?:de|del|para|por|contra|[\p{Lu}])) ?.{3,80}$/u,
];

/** Finds initiatives and campaigns by the words of their names. */
export function causesIn(lines: Line[], tokens: Token[][]): FoundActor[] {
  const found: FoundActor[] = [];
  for (const [at, line] of lines.entries()) {
    for (const span of spansOf(tokens[at]!)) {
      const cause = causeOf(withoutLeads(span), line);
      if (cause) found.push(cause);
    }
    if (found.length >= 1000) break;
  }
  return found;
}

function withoutLeads(span: Token[]): Token[] {
  let start = 0;
  while (start < span.length - 1 && (LEADS.has(span[start]!.folded) || span[start]!.kind !== 'capital') && span[start]!.folded !== 'no') start++;
  return span.slice(start);
}

function causeOf(span: Token[], line: Line): FoundActor | null {
  if (span.length < 2) return null;
  const { start, end } = rangeOf(span);
  const name = line.text.slice(start - line.start, end - line.start);
  const type = CAMPAIGNS.some((pattern) => pattern.test(name)) ? 'campaign' : INITIATIVES.some((pattern) => pattern.test(name)) ? 'initiative' : null;
  if (!type) return null;
  const score = line.isLinked ? 0.45 : line.level !== null ? 0.7 : 0.6;
  return { type, name, score, method: 'rules', claims: [{ property: 'name', value: name, start, end }] };
}
