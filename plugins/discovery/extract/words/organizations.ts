import { wordSet } from './set.ts';

/** Legal forms at the end of a name, folded without points. */
export const LEGAL_FORMS = wordSet('inc incorporated llc llp lp ltd limited corp corporation co company plc pllc pc pbc gmbh ag sa sas srl sl ac bv nv kk pte pty pvt oy ab as aps foundation na');

/** Words that nearly always belong to the name of an organization, folded, in English and Spanish. */
export const STRONG_WORDS = wordSet(`
  academy agency alliance board archdiocese archives arts assembly association associates authority bank bureau caucus chamber church cathedral clinic club coalition collective college commission committee conference congregation
  consortium cooperative coop council county credit union department diocese district federation fellowship foundation fund guild hospital institute league library ministries ministry mosque museum network orchestra
  parish partnership partners press school schools seminary senate society symphony synagogue synod team temple theater theatre tribe trust university union zoo
  academia agencia alianza asociacion ayuntamiento biblioteca camara centro clinica coalicion colegio comision comite concejo consejo cooperativa departamento diocesis distrito escuela federacion fundacion gremio hospital iglesia instituto
  junta liga ministerio municipalidad museo organizacion parroquia red secretaria sindicato sociedad universidad
`);

/** Words of trades and places that end the name of a business or of a public place, folded. */
export const TRADE_WORDS = wordSet(`
  advisors airport apparel architects attorneys auto bakery bakeries bar barbershop bistro books bookstore brewery brewing builders cafe campground campus capital care cars casino catering cemetery center centers centre chapel chevrolet
  cinema cinemas clothing coffee communications community complex construction consultants consulting contractors counseling court dealership dental design designs diner distributors electric electronics energy engineering
  enterprises entertainment equipment estates exchange farm farms financial firm florist florists flowers foods fitness furniture gallery garage garden gardens gifts golf grill group hair hall headquarters health healthcare heating holdings home homes hotel house
  improvement industries inn insurance international investments jewelers kitchen lab laboratories labs landscaping laundry law lighting limo logistics lounge magazine management manufacturing market markets marketing materials media medical mortgage motors
  moving music news nightclub nursery office outfitters paint park park pharmacy photography pizza plant plaza plumbing pools post printing productions products properties public publishing radio ranch real realty records rental rentals repair
  research resort resources restaurant restaurants roasters roofing salon salons sales scientific security senior service services shop shops shelter solutions spa sports stadium store stores studio studios supply systems
  accounting airlines aviation ballet barber bicycles boats boutique butcher candies chiropractic chocolates collision cpas creamery cycles dairy dance daycare deli delicatessen dentistry distillery escrow eyewear fashions
  foodservice freight greenhouse grille grocers grocery grooming gymnastics hardware jeans karate kennels kitchens leather lending lodge lumber machinery marina meats montessori motel nails optical orchards orthodontics payroll pediatrics
  pets physicians pilates pizzeria preschool produce pub realtors recruiting savings seafood securities shoes staffing steakhouse suites supermarket supplies surgery tire tires tools towing trucking tutoring veterinary villas vision yachts
  tavern tech technologies technology television times tours toys transport travel tribune university utilities ventures vineyards wash wealth wine winery works workshop yoga
`);

/** Words before `of` that begin the name of a public body, folded. */
export const BODY_HEADS = wordSet('city town village county borough township parish state commonwealth university college school department office bureau board ministry house church bank museum institute league federation diocese archdiocese ciudad municipio condado universidad departamento junta chamber society friends sons daughters order port');
