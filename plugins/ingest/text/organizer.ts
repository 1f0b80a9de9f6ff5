import { oneOf } from './pattern.ts';

const LONGEST = 200;

/** Words of names of organizations and public bodies, without those that are surnames, such as Church and Hall. */
const WORDS = oneOf(`
  academy, agency, alliance, assembly, associates, association, authority, board, borough, bureau, campaign, caucus, center, centre, chamber, chapter, city, clinic, club, coalition, collective, college, commission, commissioners
  committee, community, company, conservancy, consortium, cooperative, coop, co-op, corporation, council, county, department, dept, diocese, district, division, federation, fellowship, forum, foundation, friends, fund, group, guild
  hospital, inc, initiative, institute, league, library, llc, ltd, ministry, ministries, municipality, museum, neighbors, network, office, organi[sz]ation, panel, partners, partnership, party, program, project, school, schools, senate
  services, society, state, task force, team, tenants, theater, theatre, township, tribe, trust, trustees, union, university, village, workers, aldermen, selectmen, supervisors
  academia, agencia, alianza, asamblea, asociaci[oó]n, ayuntamiento, biblioteca, c[aá]mara, centro, ciudad, cl[ií]nica, coalici[oó]n, colegio, comisi[oó]n, comit[eé], comunidad, concejo, condado, consejo, cooperativa, departamento
  distrito, escuela, federaci[oó]n, fundaci[oó]n, iglesia, instituto, junta, liga, ministerio, municipalidad, municipio, museo, oficina, organizaci[oó]n, parroquia, secretar[ií]a, sindicato, sociedad, universidad
`);
/** `Planning Commission`, `Friends of the River`, `Junta de Vecinos`. */
const ORGANIZATION = new RegExp(`(?:^|\\s)${WORDS}(?:\\.?$|\\s(?:of|for|on|and|de|del|para|y)\\s)`, 'i');
/** What follows can be the body of a person: `Jane Doe, City Council`. */
const HONORIFIC = /^(?:mr|mrs|ms|mx|dr|prof|rev|hon|sr|sra|fr|pastor|mayor|councilmember)\.?\s/i;
const PART = /[,(|:–—]|\s-\s/;

/** Returns the organizer of an event if the name is that of an organization; null for others, because calendars also name the person who entered the event. */
export function organizationOf(organizer: string | null): string | null {
  return organizer !== null && organizer.length <= LONGEST && !HONORIFIC.test(organizer) && ORGANIZATION.test(organizer.split(PART, 1)[0]!.trim()) ? organizer : null;
}
