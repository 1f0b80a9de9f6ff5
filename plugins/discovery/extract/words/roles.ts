import { FIRST_NAMES, WEAK_FIRST_NAMES } from './first-names.ts';
import { wordSet } from './set.ts';

/** Words that name what a person does, in English and Spanish, folded. */
export const ROLE_WORDS = wordSet(`
  accountant adjutant administrator advisor adviser advocate agent alderman alderperson alderwoman alcalde alcaldesa ambassador analyst archivist arborist assessor assemblymember assistant associate attorney auditor
  bishop bookkeeper broker builder buyer captain caretaker cashier ceo cfo chair chairman chairperson chairwoman chancellor chaplain chef chief cio clerk coach cochair commissioner comptroller concejal concejala conductor
  constable consultant controller coo coordinador coordinadora coordinator coroner councillor councilman councilmember councilor councilperson councilwoman counsel counselor cto curator custodian deacon dean delegate
  deputy designer developer director directora dispatcher doctor economist editor educator elder engineer esquire executive facilitator fellow finance fiscal forester founder fundador fundadora gerente governor grantwriter head historian
  hostess inspector instructor intern interpreter interventionist judge justice lawyer leader lead lecturer legislator liaison librarian lieutenant lifeguard magistrate manager marshal mayor mechanic mediator member miembro minister
  moderator nurse officer official ombudsman operator organizer organizador organizadora owner paralegal paramedic parliamentarian partner pastor paster pediatrician physician planner presidenta presidente president principal priest producer professor programmer
  prosecutor provost psychologist publisher rabbi realtor receptionist recorder rector regidor regidora registrar reporter representative researcher reverend scientist secretaria secretario secretary senator sergeant
  sheriff sindico sindica solicitor specialist spokesman spokesperson spokeswoman statistician steward strategist superintendent supervisor surveyor teacher technician technologist tesorera tesorero therapist trainer translator
  treasurer trustee tutor undersecretary usher veterinarian vicar vicepresident vicepresidente videographer vocal volunteer warden webmaster writer alumni-director abogada abogado
`);

/** Words before a name that are no part of it, folded; those of a function are its role. */
export const HONORIFICS = wordSet('mr mrs ms miss mx dr sr sra srta don dona doctor prof professor rev reverend fr father sister brother hon honorable judge justice sir madam lic ing');
export const OFFICES = wordSet(`
  mayor alcalde alcaldesa councilmember councilman councilwoman councilor councillor councilperson alderman alderwoman alderperson ald commissioner supervisor senator sen representative rep congressman congresswoman governor gov
  president presidente presidenta chairman chairwoman chairperson chair trustee sheriff chief captain capt lieutenant lt sergeant sgt officer deputy superintendent director directora treasurer secretary clerk pastor bishop rabbi imam dean
  principal coach attorney assemblymember assemblyman assemblywoman delegate selectman selectwoman selectperson judge professor concejal concejala regidor regidora
`);
/** Words that stand between the words of an office before a name: `Vice Mayor`, `City Council Member`. */
export const OFFICE_PARTS = wordSet('vice deputy assistant associate interim acting former executive city county town village state council board school district police fire pro tem at large co first second president-elect mayor-elect member managing general');

/** Marks of degrees and of generations after a name, folded without points. */
export const GENERATIONS = wordSet('jr sr ii iii iv');
export const DEGREES = wordSet('phd md esq cpa rn mba jd pe aicp dds dvm mph msw lcsw cfo ceo ma ms ba bs do pa np edd dmin cmc mmc cmfo cfp cfa aia pla leed ap cfre psyd pharmd dc od cae mpa');

/** Whether a line names a function and little else. */
export function isRole(text: string): boolean {
  if (text.length > 90 || text.length < 3 || /[.!?]\s+\p{Lu}|[@|]|https?:/u.test(text) || !/^[\p{Lu}\d(]/u.test(text)) return false;
  const words = text.normalize('NFKD').toLowerCase().replaceAll(/\p{M}/gu, '').match(/\p{L}+/gu) ?? [];
  // `Jane Doe, Director` is a name with a role.
  if (FIRST_NAMES.has(words[0] ?? '') && !WEAK_FIRST_NAMES.has(words[0]!) && !ROLE_WORDS.has(words[0]!)) return false;
  return words.length <= 11 && words.some((word) => ROLE_WORDS.has(word));
}
