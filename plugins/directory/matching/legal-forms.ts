const list = (text: string): string[] => text.trim().split(/\s*\n\s*/);

/**
 * Legal forms of many countries, as words in Latin letters without accents. They say what an organization is in law, and many who
 * write its name leave them out, shorten or translate them.
 */
const ANYWHERE = list(`
  limited liability company
  limited liability partnership
  limited liability co
  limited partnership
  public limited company
  private limited company
  private limited
  public joint stock company
  open joint stock company
  closed joint stock company
  private joint stock company
  joint stock company
  joint stock co
  proprietary limited
  company limited
  co ltd
  and co kg
  und co kg
  gmbh and co kg
  gmbh und co kg
  gesellschaft mit beschrankter haftung
  gesellschaft mit beschraenkter haftung
  ges m b h
  gesmbh
  aktiengesellschaft
  kommanditgesellschaft
  societe anonyme
  societe a responsabilite limitee
  societe par actions simplifiee
  sociedad anonima
  sociedad limitada
  sociedad de responsabilidad limitada
  sociedade anonima
  sociedade limitada
  societa per azioni
  societa a responsabilita limitata
  naamloze vennootschap
  besloten vennootschap
  aktiebolag
  aktieselskab
  aksjeselskap
  osakeyhtio
  spolka z ograniczona odpowiedzialnoscia
  spolka z o o
  spolka z oo
  spolka akcyjna
  sp z o o
  sp z oo
  akciova spolecnost
  spolecnost s rucenim omezenym
  anonim sirketi
  limited sirketi
  ltd sti
  kabushiki kaisha
  kabushiki gaisha
  yugen kaisha
  sendirian berhad
  sdn bhd
  perseroan terbatas
  obshchestvo s ogranichennoy otvetstvennostyu
  obschestvo s ogranichennoi otvetstvennostyu
  tovarystvo z obmezhenoyu vidpovidalnistyu
  publichnoe aktsionernoe obshchestvo
  otkrytoe aktsionernoe obshchestvo
  zakrytoe aktsionernoe obshchestvo
  aktsionernoe obshchestvo
  aktsionerne tovarystvo
  publichne aktsionerne tovarystvo
  pryvatne aktsionerne tovarystvo
  federalnoe gosudarstvennoe unitarnoe predpriyatie
  gosudarstvennoe unitarnoe predpriyatie
  youxian zeren gongsi
  gufen youxian gongsi
  youxian gongsi
  s a r l
  s a rl
  s a s
  s p a
  s r l
  s r o
  s c a
  d o o
  a d
  a s
  a c
  s a
  n v
  b v
  k k
  m v
`);
const SINGLE = `
  gmbh ag kg ohg ev sa sas sarl srl spa snc sca sl slu sau sapi ltda eireli cia nv bv cv vof ab as asa aps oy oyj abp hb zrt kft nyrt bt spzoo spj spk sro zoo aspol doo dd ad ead eood ood ooo oao zao pao ao nao too tov
  pat prat ato fgup gup jsc pjsc ojsc cjsc ojse llc lc llp lp pllc plc ltd limited inc incorporated corp corporation co company pty pvt pte bhd berhad tbk persero kk gk yk pt fze fzco fzc fzllc dmcc sal sae sag saog saoc psc pjs pjsco pjsoc jscb ojscb akb mv wll bsc ksc kscc
  qsc qpsc uab sia oue ou nfp nonprofit 501c3 501c4 pbc sti aktsionernoe kompaniya tas ltee stichting vereniging kompania
`.trim().split(/\s+/);
/** Written before the name. */
const FIRST = new Set('ooo oao zao pao ao nao too tov pat prat fgup gup jsc pjsc ojsc cjsc llc pt cv ab nv ev stichting spa firma company limited aktsionernoe mv'.split(' '));
const PHRASES = [...ANYWHERE, ...SINGLE].map((phrase) => phrase.split(' ')).sort((one, other) => other.length - one.length);
/** By the last word and by the first, so that few are tried. */
const byLast = grouped((words) => words.at(-1)!);
const byFirst = grouped((words) => words[0]!);

function grouped(key: (words: string[]) => string): Map<string, string[][]> {
  const groups = new Map<string, string[][]>();
  for (const words of PHRASES) groups.set(key(words), [...groups.get(key(words)) ?? [], words]);
  return groups;
}

/** Returns the words without the legal forms at both ends; something always remains. */
export function withoutLegalForms(words: string[]): string[] {
  let rest = words;
  for (;;) {
    const cut = withoutLast(rest) ?? withoutFirst(rest);
    if (!cut) return rest;
    rest = cut;
  }
}

function withoutLast(words: string[]): string[] | null {
  const found = byLast.get(words.at(-1) ?? '')?.find((phrase) => phrase.length < words.length && phrase.every((word, at) => words[words.length - phrase.length + at] === word));
  return found ? words.slice(0, words.length - found.length) : null;
}

function withoutFirst(words: string[]): string[] | null {
  const found = byFirst.get(words[0] ?? '')?.find((phrase) => phrase.length < words.length && (phrase.length > 2 || FIRST.has(phrase[0]!) || phrase.join(' ') === 'm v') && phrase.every((word, at) => words[at] === word));
  return found ? words.slice(found.length) : null;
}
