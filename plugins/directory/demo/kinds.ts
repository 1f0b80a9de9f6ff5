type Site = 'public' | 'own';

/** A kind of organization that towns of the region have. In its texts `{place}`, `{county}` and `{name}` are filled in. */
export interface Kind {
  key: string;
  /** One is picked for each town. */
  names: string[];
  /** A page of the town's own site, or a site of its own. */
  site: Site;
  areas: string[];
  about: string[];
  /** What a reporter wrote about it. */
  news: string[];
  /** Who answers for it. */
  lead: string;
  /** In the county seat, in how many of the six towns, in how many of the eight villages. */
  where: [seat: 0 | 1, towns: number, villages: number];
  /** It works in several places. */
  wide?: boolean;
}

type Row = [key: string, where: Kind['where'], lead: string, names: string, areas: string, about: string[], news: string[]];

const kindsOf = (site: Site, wide: boolean, rows: Row[]): Kind[] => rows.map(([key, where, lead, names, areas, about, news]) => (
  { key, where, lead, names: names.split(' | '), areas: areas.split(' '), about, news, site, wide }));

const PUBLIC = kindsOf('public', false, [
  ['council', [1, 6, 8], 'Mayor', '{body} of {place}', 'local_government_and_civic_engagement',
    ['The {name} sets the budget, passes ordinances and meets in public; residents may speak for three minutes on any item.'],
    ['The {name} put off its vote on the budget after four hours of testimony.', 'Members of the {name} agreed to post recordings of their meetings within two days.']],
  ['works', [1, 6, 0], 'Director', '{place} Department of Public Works | {place} Public Works', 'physical_infrastructure_decay transportation_and_mobility',
    ['{name} looks after roads, bridges and culverts, and clears snow from the main routes first.'],
    ['{name} rates eleven of its bridges as poor, one of them on a school bus route.', '{name} will close the culvert on the old mill road until spring.']],
  ['water', [1, 4, 1], 'Superintendent', '{place} Water Department | {place} Water and Sewer', 'water_infrastructure water_access_and_infrastructure',
    ['{name} treats and delivers drinking water and publishes its test results every month.'],
    ['{name} found lead service lines at 412 addresses and has begun to dig.', 'A boil-water notice by {name} lasted six days.']],
  ['police', [1, 3, 0], 'Chief', '{place} Police Department', 'policing_and_community_safety',
    ['The {name} answers emergency calls and reports its stops and complaints every quarter.'],
    ['The {name} will send a counselor along on calls about a mental health crisis.', 'Complaints to the {name} fell for the second year.']],
  ['planning', [1, 4, 0], 'Chair', '{place} Planning Commission | {place} Planning and Zoning Board', 'zoning_and_land_use housing_affordability',
    ['The {name} reviews site plans and advises on the zoning map.'],
    ['The {name} voted 5 to 2 to allow duplexes on corner lots.', 'The {name} sent the warehouse plan back for a second traffic study.']],
  ['library', [1, 6, 3], 'Librarian', '{place} Public Library | {place} Free Library', 'broadband_access_and_digital_divide loneliness_and_social_isolation',
    ['{name} lends books, tools and internet hotspots, and its meeting room is free for residents.'],
    ['{name} lent its forty hotspots so often that there is a waiting list.', 'At {name} a table for people who live alone fills up every Thursday.']],
  ['housing', [1, 2, 0], 'Executive Director', 'Housing Authority of {place}', 'housing_affordability homelessness_and_housing_insecurity',
    ['The {name} owns 280 apartments and runs the voucher waiting list.'],
    ['The {name} opens its waiting list for one week in spring.', 'Tenants asked the {name} to mend elevators that had been out since summer.']],
  ['schools', [1, 5, 0], 'Superintendent', '{place} School District', 'k12_education_inequality education_funding_and_policy',
    ['The {name} teaches children from kindergarten to twelfth grade and is governed by an elected board.'],
    ['The {name} will ask voters for a levy to keep its music teachers.', 'In the {name} one child in three changes schools during the year.']],
  ['parks', [1, 3, 0], 'Director', '{place} Parks and Recreation', 'community_health_infrastructure',
    ['{name} keeps playgrounds, the river trail and the summer pool.'],
    ['{name} will keep the pool open an hour longer on hot days.']],
]);

const COUNTY_WIDE = kindsOf('public', true, [
  ['commissioners', [1, 0, 0], 'Chair', '{county} Board of Commissioners', 'local_government_and_civic_engagement physical_infrastructure_decay', ['The {name} governs the county and meets on the second Wednesday.'], ['The {name} set aside two million for the flood walls.']],
  ['health', [1, 0, 0], 'Health Officer', '{county} Health Department', 'community_health_infrastructure addiction_and_harm_reduction', ['The {name} runs clinics, inspects kitchens and hands out naloxone without questions.'], ['The {name} counted nine overdoses in a month, the fewest in three years.']],
  ['elections', [1, 0, 0], 'Clerk', '{county} Elections Office', 'voter_suppression_and_electoral_access', ['The {name} keeps the voter roll and runs fourteen polling places and three drop boxes.'], ['The {name} moved a polling place out of a church with stairs.']],
  ['transit', [1, 0, 0], 'General Manager', 'Kestrel Valley Transit Authority', 'public_transit transportation_and_mobility', ['The {name} runs nine bus lines and a ride service that can be booked by phone.'], ['The {name} may cut line 7 on Sundays.']],
  ['soil', [1, 0, 0], 'District Manager', '{county} Soil and Water Conservation District', 'sustainable_agriculture_and_food_systems climate_adaptation_and_resilience', ['The {name} helps farms keep soil on the field and out of the river.'], ['The {name} paid for buffers along six miles of creek.']],
  ['broadband', [1, 0, 0], 'Project Manager', 'Kestrel Valley Broadband Authority', 'broadband_and_digital_access rural_economic_decline_and_brain_drain', ['The {name} builds open fiber where no company would.'], ['The {name} lit its first forty homes in Dunmore Flats.']],
  ['courts', [1, 0, 0], 'Court Administrator', '{county} Courts Self-Help Center', 'criminal_justice_reform_and_mass_incarceration homelessness_and_housing_insecurity', ['The {name} explains forms and hearings to people without a lawyer.'], ['Nine of ten tenants come to court alone, the {name} found.']],
  ['ambulance', [1, 0, 0], 'Chief', '{county} Ambulance District', 'rural_healthcare_and_services', ['The {name} covers 900 square miles with five ambulances.'], ['From Lower Kestrel the {name} needs 41 minutes to the hospital.']],
]);

const OWN = kindsOf('own', false, [
  ['tenants', [1, 3, 0], 'Organizer', '{place} Tenants Union | Renters of {place} | {place} Tenants Together', 'housing_affordability homelessness_and_housing_insecurity',
    ['{name} brings renters of one building together before the next rent increase does.', '{name} is run by its members and gives advice on leases, repairs and deposits.'],
    ['{name} filled the hall when the rent registry was on the agenda.', 'Forty households of {name} held back their rent until the heat was on.']],
  ['pantry', [1, 5, 5], 'Coordinator', '{place} Food Pantry | {place} Community Table | Good Neighbor Pantry of {place}', 'sustainable_agriculture_and_food_systems',
    ['{name} gives out groceries twice a week to anybody who comes, no papers asked.', '{name} shares what farms, shops and gardens have left.'],
    ['{name} served 30 percent more families than last fall.', 'A freezer broke at {name}, and by evening there were two.']],
  ['mutual', [1, 3, 2], 'Member', '{place} Mutual Aid | Neighbors Helping Neighbors {place}', 'loneliness_and_social_isolation income_inequality_and_wealth_concentration',
    ['{name} matches people who need a ride, a meal or a hand with people who have one to spare.'],
    ['{name} paid 61 electric bills last winter.', 'After the flood {name} cleaned out basements for nine days.']],
  ['shelter', [1, 1, 0], 'Director', '{place} Night Shelter | Harbor House {place}', 'homelessness_and_housing_insecurity mental_health_crisis_and_access',
    ['{name} has 34 beds, showers and a nurse on Tuesdays.'], ['{name} turned nobody away in the January cold.']],
  ['church', [1, 4, 4], 'Pastor', 'First Congregational Church of {place} | Iglesia Luz del Valle, {place} | Grace Lutheran Church, {place}', 'loneliness_and_social_isolation immigration_and_belonging',
    ['{name} opens its kitchen on Sundays and its basement to whoever needs a room.'], ['{name} housed two families while their papers were sorted out.']],
  ['fire', [0, 3, 6], 'Chief', '{place} Volunteer Fire Company', 'rural_healthcare_and_services climate_adaptation_and_resilience',
    ['The {name} has nineteen members and one truck that is older than most of them.'], ['The {name} is looking for people who can answer a call in the daytime.']],
  ['river', [1, 2, 2], 'Riverkeeper', 'Friends of the Kestrel at {place} | {place} Riverkeepers', 'environmental_justice_and_pollution water_access_and_infrastructure',
    ['{name} tests the water at six points every month and writes down what it finds.'], ['{name} traced the foam below the outfall to a laundry.', 'Volunteers of {name} took four tons of tires out of the river.']],
  ['growers', [0, 2, 3], 'Manager', '{place} Growers Cooperative | {place} Farmers Market', 'sustainable_agriculture_and_food_systems rural_economic_decline_and_brain_drain',
    ['{name} sells what its members grow and takes food benefits at every stall.'], ['{name} doubled what food benefits buy until October.']],
  ['seniors', [1, 3, 1], 'Director', '{place} Senior Center', 'loneliness_and_social_isolation',
    ['{name} serves lunch, drives people to the doctor and calls those who have not been seen.'], ['{name} has more drivers than cars.']],
  ['parents', [1, 3, 0], 'President', '{place} Parents for Schools | {place} PTA Council', 'k12_education_inequality education_funding_and_policy',
    ['{name} raises what the budget leaves out and goes to every board meeting.'], ['{name} counted classes without a certified teacher: fourteen.']],
  ['chamber', [1, 3, 0], 'President', '{place} Chamber of Commerce', 'rural_economic_decline_and_brain_drain',
    ['The {name} speaks for 140 shops, farms and workshops.'], ['The {name} wants the empty mill rezoned.']],
  ['voters', [1, 2, 0], 'President', 'League of Voters of {place}', 'voter_suppression_and_electoral_access political_polarization_and_democratic_norms',
    ['The {name} registers voters, asks candidates the same questions and prints the answers.'], ['The {name} held a forum at which nobody was shouted down.']],
  ['bikes', [1, 1, 0], 'Coordinator', 'Bike {place} | Safe Streets {place}', 'suburban_sprawl_and_car_dependency transportation_and_mobility',
    ['{name} wants streets that a ten-year-old can cross.'], ['{name} painted a crosswalk at night; the town made it permanent.']],
  ['recovery', [1, 2, 0], 'Program Director', '{place} Recovery Community Center', 'addiction_and_harm_reduction mental_health_crisis_and_access',
    ['{name} is run by people in recovery; coffee is on from seven.'], ['{name} keeps its door open on holidays, when it is needed most.']],
]);

const VALLEY_WIDE = kindsOf('own', true, [
  ['ledger', [1, 0, 0], 'Editor', 'Kestrel Valley Ledger', 'misinformation_and_epistemic_crisis local_government_and_civic_engagement', ['The {name} is a weekly newspaper, printed since 1887 and owned by its readers since 2021.'], ['The {name} will print its corrections on page one.']],
  ['signal', [0, 1, 0], 'Editor', 'The Quarry Signal', 'misinformation_and_epistemic_crisis', ['{name} covers town halls and school boards online, three reporters strong.'], ['{name} went to court over closed meetings, and won.']],
  ['radio', [0, 1, 0], 'Station Manager', 'WKVR Valley Radio', 'misinformation_and_epistemic_crisis urban_rural_coalition_building', ['{name} is a community station; anybody may learn to run a program.'], ['{name} stayed on the air through the flood on a car battery.']],
  ['teachers', [1, 0, 0], 'President', 'Kestrel Valley Education Association', 'union_organizing education_funding_and_policy', ['The {name} is the union of 612 teachers and aides.'], ['The {name} voted by 91 percent for the contract.']],
  ['nurses', [1, 0, 0], 'Steward', 'Valley Nurses United Local 88', 'union_organizing workplace_safety_and_conditions', ['{name} bargains for nurses of the hospital and two clinics.'], ['{name} asked for a second nurse at night and got one.']],
  ['service', [1, 0, 0], 'President', 'Service Workers Local 410', 'union_organizing wage_theft_and_labor_rights', ['{name} organizes cleaners, cooks and home aides.'], ['{name} won back pay for 38 cleaners.']],
  ['trades', [0, 1, 0], 'Business Manager', 'Kestrel Building Trades Council', 'union_organizing vocational_and_alternative_pathways', ['The {name} places apprentices with nine crafts.'], ['Of this year’s apprentices of the {name}, a third are women.']],
  ['workers', [1, 0, 0], 'Organizer', 'Centro de Trabajadores del Valle', 'wage_theft_and_labor_rights immigration_and_belonging', ['{name} helps day laborers and packing-house crews to be paid what they are owed.'], ['{name} read out the names of employers who had not paid.']],
  ['drivers', [0, 1, 0], 'Spokesperson', 'Tamarack Drivers’ Guild', 'gig_economy_and_precarious_work', ['The {name} is an association of people who drive for apps.'], ['The {name} asks for a floor under what a trip pays.']],
  ['coop', [0, 1, 0], 'Worker-owner', 'Paper Street Laundry Cooperative', 'worker_cooperatives', ['{name} is owned by the eleven people who work in it.'], ['{name} bought its building.']],
  ['bakery', [0, 1, 0], 'Worker-owner', 'Station Plaza Bakery Collective', 'worker_cooperatives sustainable_agriculture_and_food_systems', ['{name} bakes with valley wheat and shares out what is left in December.'], ['{name} teaches other shops how to become cooperatives.']],
  ['transition', [0, 1, 0], 'Director', 'After the Smelter', 'just_transition environmental_justice_and_pollution', ['{name} helps families of the smelter find work that does not poison the creek.'], ['{name} trained 26 former furnace hands to clean up the ground they stood on.']],
  ['energy', [0, 1, 0], 'General Manager', 'Kestrel Rural Electric Cooperative', 'energy_transition', ['{name} belongs to the 8,300 households it serves.'], ['Members of {name} voted for the solar field at Dunmore Flats.']],
  ['climate', [1, 0, 0], 'Coordinator', 'Valley Climate Action', 'energy_transition climate_adaptation_and_resilience', ['{name} insulates houses and asks hard questions about the gas plant.'], ['{name} mapped the blocks that stay hottest at night.']],
  ['landtrust', [1, 0, 0], 'Executive Director', 'Kestrel Community Land Trust', 'housing_affordability zoning_and_land_use', ['The {name} keeps the ground so that houses on it stay within reach.'], ['The {name} sold its thirtieth house at half the market price.']],
  ['clinic', [1, 0, 0], 'Medical Director', 'Ferry Street Free Clinic', 'healthcare_access_and_coverage community_health_infrastructure', ['{name} sees people without insurance, evenings and Saturdays.'], ['{name} has a dentist again.']],
  ['hospital', [1, 0, 0], 'Chief Executive', 'Ansel Memorial Hospital', 'rural_healthcare_and_services healthcare_economics_and_medical_debt', ['{name} is the only hospital between the mountains and the lake.'], ['{name} closed its delivery ward; the next is 58 miles away.']],
  ['debt', [1, 0, 0], 'Treasurer', 'Valley Medical Debt Fund', 'healthcare_economics_and_medical_debt', ['{name} buys unpaid hospital bills for cents and tears them up.'], ['{name} wiped out the bills of 1,140 households.']],
  ['mind', [1, 0, 0], 'Clinical Director', 'Kestrel Center for Mental Health', 'mental_health_crisis_and_access', ['The {name} has a walk-in hour every day and a line that is answered all night.'], ['The wait at the {name} is down to nine days.']],
  ['youth', [1, 0, 0], 'Coordinator', 'Offline Hours Youth Project', 'social_media_and_mental_health', ['{name} gives teenagers a place to go, and a basket for their phones.'], ['{name} began with six teenagers and a broken pool table.']],
  ['welcome', [1, 0, 0], 'Director', 'New Neighbors Welcome Center', 'immigration_and_belonging', ['{name} helps people who arrive to find a school, a doctor and work.'], ['{name} had 70 volunteers for 40 arrivals.']],
  ['legal', [1, 0, 0], 'Managing Attorney', 'Ansel Legal Aid', 'homelessness_and_housing_insecurity criminal_justice_reform_and_mass_incarceration', ['{name} represents people who cannot pay a lawyer.'], ['With a lawyer of {name}, eight of ten tenants kept their home.']],
  ['reentry', [1, 0, 0], 'Director', 'Second Chapter Reentry Network', 'criminal_justice_reform_and_mass_incarceration', ['{name} meets people at the gate on the day they come home.'], ['{name} found work for 53 people in a year.']],
  ['circle', [0, 1, 0], 'Facilitator', 'Saint Odile Peace Circle', 'restorative_justice', ['{name} brings together those who did harm and those who suffered it, when both want it.'], ['The court sent {name} its hundredth case.']],
  ['privacy', [0, 1, 0], 'Convener', 'New Tarsus Privacy Circle', 'digital_privacy_and_surveillance', ['{name} reads the contracts for cameras and plate readers that others only sign.'], ['{name} found that plate data were kept for three years.']],
  ['openweb', [0, 1, 0], 'Convener', 'Valley Open Web Club', 'platform_monopolies_and_tech_accountability', ['{name} moves shops and clubs off the big platforms and onto sites of their own.'], ['{name} brought the market’s stalls onto a site of their own.']],
  ['college', [0, 1, 0], 'President', 'New Tarsus Community College', 'higher_education_affordability vocational_and_alternative_pathways', ['{name} teaches nursing, welding and the first two years of most degrees.'], ['At {name} tuition will stay where it is.']],
  ['borrowers', [0, 1, 0], 'Organizer', 'Borrowers of the Valley', 'student_debt_and_college_affordability', ['{name} helps people through the forms of loan forgiveness.'], ['{name} counted 4.1 million forgiven among its members.']],
  ['machines', [0, 1, 0], 'Researcher', 'Warehouse Automation Watch', 'automation_and_ai_displacement', ['{name} writes down which jobs the new machines in the warehouses took, and which they made.'], ['{name} published its first count: 212 lost, 64 new.']],
  ['reform', [1, 0, 0], 'Chair', 'Tamarack Fair Maps Coalition', 'electoral_reform', ['The {name} wants districts drawn by citizens.'], ['The {name} handed in 19,000 signatures.']],
  ['money', [1, 0, 0], 'Director', 'Follow the Checks', 'money_in_politics', ['{name} types up campaign reports that are filed on paper.'], ['{name} showed who paid for the levy mailers.']],
  ['bridges', [0, 0, 1], 'Convener', 'Both Banks Project', 'urban_rural_coalition_building cultural_resentment_and_political_division', ['{name} pairs families from Harlow Ferry with families from the villages for a year of Sunday suppers.'], ['Of 44 pairs of {name}, 39 still eat together.']],
  ['scouts', [0, 0, 1], 'Director', 'Kestrel Lake Outdoor School', 'climate_adaptation_and_resilience', ['{name} teaches fifth-graders to read a river.'], ['{name} counts loons with the children, and this year there were nine.']],
]);

export const KINDS: readonly Kind[] = [...PUBLIC, ...COUNTY_WIDE, ...OWN, ...VALLEY_WIDE];
