import type { Random } from '../random.ts';

/** A wrong, missing, doubled or swapped letter somewhere after the first. */
export function mistyped(text: string, random: Random): string {
  if (text.length < 4) return text;
  const at = random.between(1, text.length - 2);
  const letter = random.pick([...'aeioustrnl']);
  return random.pick([
    () => text.slice(0, at) + text.slice(at + 1),
    () => text.slice(0, at) + text[at]! + text.slice(at),
    () => text.slice(0, at) + letter + text.slice(at + 1),
    () => text.slice(0, at) + text[at + 1]! + text[at]! + text.slice(at + 2),
  ])();
}

const SHORT: Record<string, string> = {
  Association: 'Assn', Department: 'Dept.', Community: 'Cmty', Development: 'Dev', Corporation: 'Corp', Center: 'Ctr', Foundation: 'Fdn', Society: 'Soc.', Library: 'Lib.', District: 'Dist.',
  Street: 'St.', Neighborhood: 'Nbhd', Education: 'Educ', Commission: 'Comm.', Public: 'Pub', Services: 'Svcs', Federation: 'Fed.', Council: 'Cncl', Heights: 'Hts', Recreation: 'Rec',
};

function longest(words: string[]): number {
  return words.reduce((best, word, at) => (word.length > words[best]!.length ? at : best), 0);
}

const changed = (words: string[], at: number, word: string): string => words.map((old, index) => (index === at ? word : old)).join(' ');

/** The name of an organization as somebody else writes it. */
export function organizationVariant(name: string, random: Random): string {
  const words = name.split(' ');
  const once = random.pick([
    () => `The ${name}`,
    () => `${name}${random.pick([', Inc.', ' Inc', ' LLC', ', Incorporated', ' (Inc.)', ' Co.'])}`,
    () => words.map((word) => SHORT[word] ?? word).join(' '),
    () => words.map((word) => SHORT[word] ?? word).join(' '),
    () => changed(words, longest(words), mistyped(words[longest(words)]!, random)),
    () => { const at = random.between(0, words.length - 1); return changed(words, at, mistyped(words[at]!, random)); },
    () => name.toUpperCase(),
    () => (name.includes(' and ') ? name.replace(' and ', ' & ') : name.replace(/s\b/, '')),
    () => (words.length > 2 && !name.includes(' of ') ? `${words.slice(1).join(' ')} of ${words[0]}` : `The ${name}`),
    () => `${name} (${words.filter((word) => /^[A-Z]/.test(word)).map((word) => word[0]).join('')})`,
    () => name.replace(/[aeo]/, (letter) => ({ a: 'á', e: 'é', o: 'ö' })[letter]!),
    () => { const at = longest(words); return SHORT[words[at]!] ? changed(words, at, `${words[at]!.slice(0, random.between(4, 5))}.`) : name; },
  ])();
  return random.chance(0.3) ? random.pick([`The ${once}`, `${once}, Inc.`, once.toLowerCase(), once.replaceAll(/[.,]/g, '')]) : once;
}

interface Names { given: string; middle: string; family: string }

/** The name of a person as somebody else writes it. */
export function personVariant({ given, middle, family }: Names, short: string[], random: Random): string {
  const called = short.length > 0 ? random.pick(short) : given;
  const full = [given, middle, family].filter(Boolean).join(' ');
  const once = random.pick([
    () => `${family}, ${given}`,
    () => `${family}, ${given}${middle && ` ${middle}.`}`,
    () => `${called} ${family}`,
    () => `${called} ${family}`,
    () => `${given} ${family}`,
    () => `${given[0]}. ${family}`,
    () => `${given} "${called}" ${family}`,
    () => `${given} ${mistyped(family, random)}`,
    () => `${mistyped(given, random)} ${family}`,
    () => `${random.pick(['Rep.', 'Sen.', 'Hon.', 'Dr.', 'Mayor', 'Councilmember', 'Ms.', 'Mr.'])} ${given} ${family}`,
    () => full.toUpperCase(),
    () => `${family} ${given}`,
    () => `${given} ${family}-${random.pick(['Ortega', 'Winslow', 'Abbott'])}`,
  ])();
  return random.chance(0.15) ? `${once}${random.pick([', Jr.', ' III', ', PhD'])}` : once;
}
