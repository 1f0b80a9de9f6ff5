import { slugOf } from '../places/names.ts';
import { entry, page, say, type Desk, type Entry } from './pages.ts';
import { PAPERS, phoneOf, yearOf, type Organization } from './organizations.ts';
import { TOWNS } from './region.ts';

export interface Cause {
  entry: Entry;
  area: string;
}

type Line = [name: string, town: string, by: string, areas: string, about: string];

const CAMPAIGNS: Line[] = [
  ['Yes on Measure 4', 'Harlow Ferry', 'library', 'education_funding_and_policy', 'A campaign for the levy that keeps the library open six days a week.'],
  ['Keep Line 7 Running', 'Pellam', 'transit', 'public_transit', 'Riders who want the Sunday buses of line 7 to stay.'],
  ['Raise the Floor', 'Harlow Ferry', 'service', 'income_inequality_and_wealth_concentration wage_theft_and_labor_rights', 'A campaign for a county minimum wage of 17 dollars.'],
  ['Lead-Free by Thirty', 'Marlow Bend', 'river', 'water_infrastructure environmental_justice_and_pollution', 'Residents who want every lead pipe out of the ground by 2030.'],
  ['Ranked Choice Tamarack', 'New Tarsus', 'reform', 'electoral_reform', 'A petition to rank candidates in city elections.'],
  ['No New Pit', 'Quarry Hill', 'river', 'environmental_justice_and_pollution zoning_and_land_use', 'Neighbors against a fourth quarry above the school.'],
  ['Heat Is a Right', 'Harlow Ferry', 'tenants', 'housing_affordability', 'A campaign for a rule that rented homes are kept at 68 degrees in winter.'],
  ['Phones Down till the Bell', 'New Tarsus', 'parents', 'social_media_and_mental_health', 'Parents and teachers for schools without phones.'],
  ['Fix the Bridge Street Bridge', 'Harlow Ferry', 'works', 'physical_infrastructure_decay', 'Shopkeepers and commuters for a bridge that carries a fire engine.'],
  ['Open the Ward', 'Harlow Ferry', 'nurses', 'rural_healthcare_and_services', 'Nurses and mothers for a delivery ward in the county.'],
  ['Cameras Need Consent', 'Pellam', 'privacy', 'digital_privacy_and_surveillance', 'A petition for a vote before the town buys cameras that read license plates.'],
  ['Clean Checks Pledge', 'Harlow Ferry', 'money', 'money_in_politics', 'Candidates who promise to publish every gift within two days.'],
  ['Bring the Jobs Home', 'Copperline', 'transition', 'just_transition rural_economic_decline_and_brain_drain', 'Families of the smelter for clean-up work that hires in town.'],
  ['Counselors, Not Cuffs', 'Harlow Ferry', 'mind', 'policing_and_community_safety mental_health_crisis_and_access', 'A campaign for a crisis team that comes without sirens.'],
  ['Pay the Pickers', 'Villa Nuñez', 'workers', 'wage_theft_and_labor_rights workplace_safety_and_conditions', 'Packing-house crews for shade, water and the hours they worked.'],
  ['Count Every Drop Box', 'Marlow Bend', 'voters', 'voter_suppression_and_electoral_access', 'Volunteers who want a drop box in every town.'],
  ['Public Power Now', 'Dunmore Flats', 'energy', 'energy_transition', 'Members of the electric cooperative for a solar field they own.'],
  ['Talk First', 'Ash Hollow', 'bridges', 'cultural_resentment_and_political_division political_polarization_and_democratic_norms', 'A pledge to visit the other side’s meeting before writing about it.'],
];

const INITIATIVES: Line[] = [
  ['Kestrel Fiber Buildout', 'Dunmore Flats', 'broadband', 'broadband_and_digital_access broadband_access_and_digital_divide', 'Open fiber to 3,100 homes in the villages by the end of next year.'],
  ['Safe Routes to School', 'Quarry Hill', 'bikes', 'transportation_and_mobility suburban_sprawl_and_car_dependency', 'Sidewalks, crossings and walking buses for nine schools.'],
  ['Three Bridges Flood Buyout', 'Three Bridges', 'commissioners', 'climate_adaptation_and_resilience', 'The county buys houses that flooded twice and turns the ground into a meadow.'],
  ['Harlow Ferry Rent Registry', 'Harlow Ferry', 'housing', 'housing_affordability', 'A public list of rented homes, their rents and their repairs.'],
  ['Tool Library', 'Marlow Bend', 'library', 'loneliness_and_social_isolation', 'Saws, ladders and a pressure canner on a library card.'],
  ['Community Fridge', 'Pellam', 'pantry', 'sustainable_agriculture_and_food_systems', 'Take what you need, leave what you can, open day and night.'],
  ['Naloxone Boxes', 'Copperline', 'health', 'addiction_and_harm_reduction', 'Forty boxes on walls where anybody can reach them.'],
  ['Valley Warm Line', 'Harlow Ferry', 'mind', 'mental_health_crisis_and_access loneliness_and_social_isolation', 'A number for bad nights, answered by people who have had them.'],
  ['Repair Café', 'New Tarsus', 'college', 'loneliness_and_social_isolation', 'Bring a broken toaster, leave with a mended one and a friend.'],
  ['Farm to School', 'Orchard Gap', 'growers', 'sustainable_agriculture_and_food_systems', 'Valley apples, beans and milk in eleven school kitchens.'],
  ['Participatory Budgeting', 'Harlow Ferry', 'council', 'local_government_and_civic_engagement', 'Residents decide on half a million of the city budget, from age 14.'],
  ['Open Checkbook', 'Quarry Hill', 'council', 'local_government_and_civic_engagement money_in_politics', 'Every payment of the town above 500 dollars, online within a month.'],
  ['Media Literacy Nights', 'Saint Odile', 'library', 'misinformation_and_epistemic_crisis', 'An evening a month on where a picture really comes from.'],
  ['Youth Apprenticeship Compact', 'New Tarsus', 'trades', 'vocational_and_alternative_pathways', 'Paid apprenticeships for 120 students in their last two school years.'],
  ['Rural Ride Line', 'Lower Kestrel', 'transit', 'transportation_and_mobility rural_healthcare_and_services', 'A car to the doctor for two dollars, booked the day before.'],
  ['Solar on Schools', 'Pellam', 'schools', 'energy_transition education_funding_and_policy', 'Panels on six roofs; what they save pays for a nurse.'],
  ['Coffee across the River', 'Fennimore Landing', 'bridges', 'urban_rural_coalition_building', 'Twelve tables, six from each bank, one question a month.'],
  ['Right to Counsel Pilot', 'Harlow Ferry', 'legal', 'homelessness_and_housing_insecurity', 'A lawyer for every tenant with a child in eviction court.'],
  ['Clean Slate Clinics', 'Harlow Ferry', 'reentry', 'criminal_justice_reform_and_mass_incarceration', 'Help with clearing old records, one Saturday a month.'],
  ['Mill Hands Learn Robots', 'Marlow Bend', 'college', 'automation_and_ai_displacement vocational_and_alternative_pathways', 'Sixteen weeks of paid training for people whose work a machine took.'],
  ['Valley Promise', 'New Tarsus', 'college', 'higher_education_affordability student_debt_and_college_affordability', 'Two years of college without tuition for graduates of valley schools.'],
  ['Trips for a Living', 'Quarry Hill', 'drivers', 'gig_economy_and_precarious_work', 'A drivers’ room with coffee, a lawyer on Fridays and a log of unpaid trips.'],
  ['School Circles', 'Saint Odile', 'circle', 'restorative_justice k12_education_inequality', 'Circles in place of suspensions in four schools.'],
  ['Own Your Shop', 'Pellam', 'bakery', 'worker_cooperatives', 'Advice and a loan fund for workers whose boss retires.'],
];

export function writeCauses(desk: Desk, organizations: Organization[]): Cause[] {
  return [
    ...CAMPAIGNS.map((line) => writeCause(desk, 'campaign', line, organizations)),
    ...INITIATIVES.map((line) => writeCause(desk, 'initiative', line, organizations)),
  ];
}

function writeCause(desk: Desk, type: 'campaign' | 'initiative', [name, townName, by, list, about]: Line, organizations: Organization[]): Cause {
  const { random } = desk;
  const town = TOWNS.find((place) => place.name === townName)!;
  const behind = organizations.find(({ kind, town: home }) => kind.key === by && home === town) ?? organizations.find(({ kind }) => kind.key === by)!;
  const who = entry(desk, type, `${type}/${slugOf(name)}`, name);
  const areas = list.split(' ');
  const host = `${slugOf(name).replaceAll('-', '')}.example`;
  const site = `https://www.${host}`;

  const home = page(desk, { url: `${site}/`, title: name, publication: name, kind: 'org_website', read: who.age });
  say(desk, home, who, about, [['name', name], ['description', about], ['website', site], ...areas.map((area): ['issue_area', string] => ['issue_area', area])]);
  say(desk, home, who, `In the demonstration register this is ${who.key}.`, [['identifier', { scheme: 'demo', value: who.key }]]);
  const contact = page(desk, { url: `${site}/join`, title: `Join: ${name}`, publication: name, kind: 'org_website', read: who.age });
  const phone = phoneOf(desk);
  say(desk, contact, who, `We meet in ${town.name}; write to join@${host} or call ${phone}.`, [['place', town.place_key], ['email', `join@${host}`], ['phone', phone]]);

  const partner = page(desk, { url: `${behind.site}/partners/${slugOf(name)}`, title: `${behind.entry.name} and ${name}`, publication: behind.entry.name, kind: 'org_website', read: behind.entry.age });
  say(desk, partner, who, `${behind.entry.name} stands behind ${name}.`, [['affiliation', { entity_id: behind.entry.id, name: behind.entry.name, role: 'supported by', since: null, until: null }]]);
  say(desk, partner, behind.entry, `${behind.entry.name} stands behind ${name}.`, [['issue_area', areas[0]!]], { confidence: 0.6 });

  for (let story = 0; story < random.between(2, 3); story++) {
    const paper = random.pick(PAPERS);
    const days = who.age + random.between(2, 80);
    const text = random.pick(STORIES).replace('{name}', name).replace('{place}', town.name);
    const article = page(desk, { url: `https://www.${paper.host}/${yearOf(desk, days)}/${slugOf(name)}-${story}${random.between(10, 99)}`, title: text.replace(/\.$/, ''), publication: paper.name, kind: story === 0 ? 'news_article' : 'op_ed', method: 'manual', published: days, read: who.age });
    say(desk, article, who, text, [['name', name], ['place', town.place_key], ['issue_area', random.pick(areas)]]);
  }
  return { entry: who, area: areas[0]! };
}

const STORIES = [
  'In {place} {name} has more supporters than the council expected.',
  '{name} began at a kitchen table in {place}.',
  'Two hundred people signed for {name} on Saturday in {place}.',
  '{name} has a plan, a budget and, since Monday, an office in {place}.',
  'Not everybody in {place} likes {name}, and that is why it is worth a visit.',
  'What {name} costs, and who pays: a look at the figures from {place}.',
];
