const list = (text: string): string[] => text.trim().split(/\s+/);

/** What texts are made of, the most frequent first; the tail is made of syllables. */
export const TEXT = list(`
the and of to in for a with on our by from at that is
community local public city residents program support services people county state group members work education health families neighborhood
housing development board council meeting volunteers projects policy planning access resources school youth children organization nonprofit
advocacy justice affordable environment equity civic rights park safety water transit economic small business workers food land voters
climate energy training research network partners funding grants events workshops legal tenants homeowners schools students parents teachers
seniors veterans immigrant refugee women black latino indigenous rural urban regional statewide national federal government agency department office
committee commission coalition alliance association center foundation institute trust fund union league society club church mission initiative campaign
election candidates ballot voting registration democracy transparency accountability budget taxes spending audit records hearing testimony comment zoning code
permits construction historic preservation streets sidewalks bicycle pedestrian traffic bus rail airport river lake watershed pollution air quality soil
waste recycling compost garden farm farmers market hunger nutrition pantry shelter homeless eviction rent mortgage loans credit banking wages jobs
hiring apprenticeship unions labor childcare preschool literacy library museum arts music theater culture festival history archive media newspaper radio broadband
internet digital privacy data technology science engineering medicine hospital clinic nurses doctors mental addiction recovery prevention violence police courts
prison reentry bail probation juvenile disability accessibility aging caregivers hospice emergency disaster fire flood storm wildfire resilience solar wind power
utility electric gas nuclear conservation wildlife forest trails beach coast fishing hunting tourism parks recreation sports soccer basketball swimming
`);

export const CAUSES = list(`
housing community neighborhood health education water justice youth climate transit food park voter arts environmental family senior safety economic energy
tenant workforce library school river veterans immigrant land disability literacy equity recovery heritage garden recreation labor broadband preservation wildlife
childcare reentry accessibility solar democracy transparency budget zoning pedestrian bicycle watershed hunger shelter museum theater music media privacy
science hospital clinic wellness prevention policing court bail disaster wildfire flood forest trails coastal farm market rural urban tribal women
`);

export const GROUPS = list(`
association coalition council foundation alliance committee center network project league society commission trust fund board partnership union collaborative
initiative institute club district corporation agency authority office department mission guild cooperative forum taskforce
`);

export const FIRST_NAMES = list(`
James Mary Robert Patricia John Jennifer Michael Linda David Elizabeth William Barbara Richard Susan Joseph Jessica Thomas Sarah Charles Karen
Christopher Lisa Daniel Nancy Matthew Betty Anthony Sandra Mark Margaret Donald Ashley Steven Kimberly Andrew Emily Paul Donna Joshua Michelle
Kenneth Carol Kevin Amanda Brian Melissa George Deborah Timothy Stephanie Ronald Dorothy Jason Rebecca Edward Sharon Jeffrey Laura Ryan Cynthia
José María Luis Ana Carlos Sofía Juan Lucía Miguel Inés André Zoë François Chloé Jürgen Søren Nguyễn Aïsha Fatima Omar Amina Wei Mei Hiroshi
`);

export const OFFICES = list('Mayor Council Senate Assembly Judge Sheriff Treasurer Clerk Auditor Commissioner');

export const SYLLABLES = list(`
ba be bo bra bri ca car ce chi co cor da de del di dor du el en er fa fer fi for ga gar ge gra ha har he hol in ja jo ka ken ki kin la lan le
lin lo lu ma mar me mi mon mor na ne ni no nor o or pa par pe per po pra ra re ri ro ron ru sa san se sha si so son sta ste sto ta tan te ter
ti to tor tra tri tu u va ven ver vi vo wa wal we wil win wo ya ye yo za ze zo burg dale field ford ham land ley man ton ville wood
`);
