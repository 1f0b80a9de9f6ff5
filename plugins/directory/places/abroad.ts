import { slugOf } from './names.ts';

// Written down here and not asked of Intl, whose names change with Node's version: keys of places are made of them.
const COUNTRIES = `
AD Andorra, AE United Arab Emirates, AF Afghanistan, AG Antigua and Barbuda, AI Anguilla, AL Albania, AM Armenia, AO Angola, AQ Antarctica, AR Argentina, AS American Samoa,
AT Austria, AU Australia, AW Aruba, AX Åland Islands, AZ Azerbaijan, BA Bosnia and Herzegovina, BB Barbados, BD Bangladesh, BE Belgium, BF Burkina Faso, BG Bulgaria,
BH Bahrain, BI Burundi, BJ Benin, BL St. Barthélemy, BM Bermuda, BN Brunei, BO Bolivia, BQ Caribbean Netherlands, BR Brazil, BS Bahamas, BT Bhutan, BW Botswana,
BY Belarus, BZ Belize, CA Canada, CC Cocos Islands, CD DR Congo, CF Central African Republic, CG Republic of the Congo, CH Switzerland, CI Côte d'Ivoire,
CK Cook Islands, CL Chile, CM Cameroon, CN China, CO Colombia, CR Costa Rica, CU Cuba, CV Cape Verde, CW Curaçao, CX Christmas Island, CY Cyprus, CZ Czechia, DE Germany,
DJ Djibouti, DK Denmark, DM Dominica, DO Dominican Republic, DZ Algeria, EC Ecuador, EE Estonia, EG Egypt, EH Western Sahara, ER Eritrea, ES Spain, ET Ethiopia,
FI Finland, FJ Fiji, FK Falkland Islands, FM Micronesia, FO Faroe Islands, FR France, GA Gabon, GB United Kingdom, GD Grenada, GE Georgia, GF French Guiana, GG Guernsey,
GH Ghana, GI Gibraltar, GL Greenland, GM Gambia, GN Guinea, GP Guadeloupe, GQ Equatorial Guinea, GR Greece, GS South Georgia and South Sandwich Islands, GT Guatemala,
GU Guam, GW Guinea-Bissau, GY Guyana, HK Hong Kong, HN Honduras, HR Croatia, HT Haiti, HU Hungary, ID Indonesia, IE Ireland, IL Israel, IM Isle of Man, IN India, IQ Iraq,
IR Iran, IS Iceland, IT Italy, JE Jersey, JM Jamaica, JO Jordan, JP Japan, KE Kenya, KG Kyrgyzstan, KH Cambodia, KI Kiribati, KM Comoros, KN St. Kitts and Nevis,
KP North Korea, KR South Korea, KW Kuwait, KY Cayman Islands, KZ Kazakhstan, LA Laos, LB Lebanon, LC St. Lucia, LI Liechtenstein, LK Sri Lanka, LR Liberia, LS Lesotho,
LT Lithuania, LU Luxembourg, LV Latvia, LY Libya, MA Morocco, MC Monaco, MD Moldova, ME Montenegro, MF St. Martin, MG Madagascar, MH Marshall Islands, MK North Macedonia,
ML Mali, MM Myanmar, MN Mongolia, MO Macao, MP Northern Mariana Islands, MQ Martinique, MR Mauritania, MS Montserrat, MT Malta, MU Mauritius, MV Maldives,
MW Malawi, MX Mexico, MY Malaysia, MZ Mozambique, NA Namibia, NC New Caledonia, NE Niger, NF Norfolk Island, NG Nigeria, NI Nicaragua, NL Netherlands, NO Norway, NP Nepal,
NR Nauru, NU Niue, NZ New Zealand, OM Oman, PA Panama, PE Peru, PF French Polynesia, PG Papua New Guinea, PH Philippines, PK Pakistan, PL Poland, PM St. Pierre and Miquelon,
PN Pitcairn Islands, PR Puerto Rico, PS Palestinian Territories, PT Portugal, PW Palau, PY Paraguay, QA Qatar, RE Réunion, RO Romania, RS Serbia, RU Russia, RW Rwanda,
SA Saudi Arabia, SB Solomon Islands, SC Seychelles, SD Sudan, SE Sweden, SG Singapore, SH St. Helena, SI Slovenia, SJ Svalbard and Jan Mayen, SK Slovakia, SL Sierra Leone,
SM San Marino, SN Senegal, SO Somalia, SR Suriname, SS South Sudan, ST São Tomé and Príncipe, SV El Salvador, SX Sint Maarten, SY Syria, SZ Eswatini,
TC Turks and Caicos Islands, TD Chad, TF French Southern Territories, TG Togo, TH Thailand, TJ Tajikistan, TK Tokelau, TL Timor-Leste, TM Turkmenistan, TN Tunisia, TO Tonga,
TR Turkey, TT Trinidad and Tobago, TV Tuvalu, TW Taiwan, TZ Tanzania, UA Ukraine, UG Uganda, US United States, UY Uruguay, UZ Uzbekistan, VA Vatican City,
VC St. Vincent and Grenadines, VE Venezuela, VG British Virgin Islands, VI U.S. Virgin Islands, VN Vietnam, VU Vanuatu, WF Wallis and Futuna, WS Samoa, XK Kosovo, YE Yemen,
YT Mayotte, ZA South Africa, ZM Zambia, ZW Zimbabwe
`;

// First-level divisions by their GeoNames code, for countries whose cities are told apart by them.
const DIVISIONS = `
AU 01 Australian Capital Territory|02 New South Wales|03 Northern Territory|04 Queensland|05 South Australia|06 Tasmania|07 Victoria|08 Western Australia
BR 01 Acre|02 Alagoas|03 Amapá|04 Amazonas|05 Bahia|06 Ceará|07 Federal District|08 Espírito Santo|11 Mato Grosso do Sul|13 Maranhão|14 Mato Grosso|15 Minas Gerais|16 Pará|17 Paraíba|18 Paraná|20 Piauí|21 Rio de Janeiro|22 Rio Grande do Norte|23 Rio Grande do Sul|24 Rondônia|25 Roraima|26 Santa Catarina|27 São Paulo|28 Sergipe|29 Goiás|30 Pernambuco|31 Tocantins
CA 01 Alberta|02 British Columbia|03 Manitoba|04 New Brunswick|05 Newfoundland and Labrador|07 Nova Scotia|08 Ontario|09 Prince Edward Island|10 Quebec|11 Saskatchewan|12 Yukon|13 Northwest Territories|14 Nunavut
DE 01 Baden-Württemberg|02 Bavaria|03 Bremen|04 Hamburg|05 Hesse|06 Lower Saxony|07 North Rhine-Westphalia|08 Rhineland-Palatinate|09 Saarland|10 Schleswig-Holstein|11 Brandenburg|12 Mecklenburg-Vorpommern|13 Saxony|14 Saxony-Anhalt|15 Thuringia|16 Berlin
ES 07 Balearic Islands|27 La Rioja|29 Madrid|31 Murcia|32 Navarre|34 Asturias|39 Cantabria|51 Andalusia|52 Aragon|53 Canary Islands|54 Castilla-La Mancha|55 Castile and León|56 Catalonia|57 Extremadura|58 Galicia|59 Basque Country|60 Valencia
FR 11 Île-de-France|24 Centre-Val de Loire|27 Bourgogne-Franche-Comté|28 Normandy|32 Hauts-de-France|44 Grand Est|52 Pays de la Loire|53 Brittany|75 Nouvelle-Aquitaine|76 Occitanie|84 Auvergne-Rhône-Alpes|93 Provence-Alpes-Côte d'Azur|94 Corsica
GB ENG England|NIR Northern Ireland|SCT Scotland|WLS Wales
IE C Connacht|L Leinster|M Munster|U Ulster
IN 01 Andaman and Nicobar Islands|02 Andhra Pradesh|03 Assam|05 Chandigarh|07 Delhi|09 Gujarat|10 Haryana|11 Himachal Pradesh|12 Jammu and Kashmir|13 Kerala|14 Lakshadweep|16 Maharashtra|17 Manipur|18 Meghalaya|19 Karnataka|20 Nagaland|21 Odisha|22 Puducherry|23 Punjab|24 Rajasthan|25 Tamil Nadu|26 Tripura|28 West Bengal|29 Sikkim|30 Arunachal Pradesh|31 Mizoram|33 Goa|34 Bihar|35 Madhya Pradesh|36 Uttar Pradesh|37 Chhattisgarh|38 Jharkhand|39 Uttarakhand|40 Telangana
IT 01 Abruzzo|02 Basilicata|03 Calabria|04 Campania|05 Emilia-Romagna|06 Friuli Venezia Giulia|07 Lazio|08 Liguria|09 Lombardy|10 Marche|11 Molise|12 Piedmont|13 Apulia|14 Sardinia|15 Sicily|16 Tuscany|17 Trentino-Alto Adige|18 Umbria|19 Aosta Valley|20 Veneto
JP 01 Aichi|02 Akita|03 Aomori|04 Chiba|05 Ehime|06 Fukui|07 Fukuoka|08 Fukushima|09 Gifu|10 Gunma|11 Hiroshima|12 Hokkaido|13 Hyogo|14 Ibaraki|15 Ishikawa|16 Iwate|17 Kagawa|18 Kagoshima|19 Kanagawa|20 Kochi|21 Kumamoto|22 Kyoto|23 Mie|24 Miyagi|25 Miyazaki|26 Nagano|27 Nagasaki|28 Nara|29 Niigata|30 Oita|31 Okayama|32 Osaka|33 Saga|34 Saitama|35 Shiga|36 Shimane|37 Shizuoka|38 Tochigi|39 Tokushima|40 Tokyo|41 Tottori|42 Toyama|43 Wakayama|44 Yamagata|45 Yamaguchi|46 Yamanashi|47 Okinawa
MX 01 Aguascalientes|02 Baja California|03 Baja California Sur|04 Campeche|05 Chiapas|06 Chihuahua|07 Coahuila|08 Colima|09 Mexico City|10 Durango|11 Guanajuato|12 Guerrero|13 Hidalgo|14 Jalisco|15 State of Mexico|16 Michoacán|17 Morelos|18 Nayarit|19 Nuevo León|20 Oaxaca|21 Puebla|22 Querétaro|23 Quintana Roo|24 San Luis Potosí|25 Sinaloa|26 Sonora|27 Tabasco|28 Tamaulipas|29 Tlaxcala|30 Veracruz|31 Yucatán|32 Zacatecas
NZ E7 Auckland|E8 Bay of Plenty|E9 Canterbury|F1 Gisborne|F2 Hawke's Bay|F3 Manawatu-Wanganui|F4 Marlborough|F5 Nelson|F6 Northland|F7 Otago|F8 Southland|F9 Taranaki|G1 Waikato|G2 Wellington|G3 West Coast|TAS Tasman
`;

const countries = new Map(COUNTRIES.trim().split(/,\s+/).map((one) => [one.slice(0, 2), one.slice(3)]));

const divisions = new Map(DIVISIONS.trim().split('\n').flatMap((line) => line.slice(3).split('|').map((one) => {
  const space = one.indexOf(' ');
  return [`${line.slice(0, 2)} ${one.slice(0, space)}`, one.slice(space + 1)] as const;
})));

export function countryName(code: string): string {
  return countries.get(code) ?? code;
}

/** The name of a first-level division, or null where only its code is known. */
export function divisionName(country: string, code: string): string | null {
  return divisions.get(`${country} ${code}`) ?? null;
}

const ALSO = new Map(Object.entries({
  uk: 'GB', 'great-britain': 'GB', britain: 'GB', usa: 'US', 'united-states-of-america': 'US', 'u-s-a': 'US', america: 'US', korea: 'KR', 'republic-of-korea': 'KR', holland: 'NL', 'the-netherlands': 'NL',
  'czech-republic': 'CZ', burma: 'MM', 'ivory-coast': 'CI', turkiye: 'TR', 'viet-nam': 'VN', 'russian-federation': 'RU', uae: 'AE', swaziland: 'SZ', macedonia: 'MK',
}));
const codeBySlug = new Map([...countries].map(([code, name]) => [slugOf(name), code]));

/** The code of a country, by its name or code. */
export function countryByText(text: string): string | null {
  const slug = slugOf(text);
  const code = text.trim().toUpperCase();
  return codeBySlug.get(slug) ?? ALSO.get(slug) ?? (countries.has(code) ? code : null);
}

const PROVINCES = new Map(Object.entries({
  ab: 'Alberta', bc: 'British Columbia', mb: 'Manitoba', nb: 'New Brunswick', nl: 'Newfoundland and Labrador', ns: 'Nova Scotia', nt: 'Northwest Territories', nu: 'Nunavut', on: 'Ontario',
  pe: 'Prince Edward Island', pei: 'Prince Edward Island', qc: 'Quebec', sk: 'Saskatchewan', yt: 'Yukon', nsw: 'New South Wales', qld: 'Queensland', vic: 'Victoria', act: 'Australian Capital Territory',
}));
const divisionBySlug = new Map([...divisions.values()].map((name) => [slugOf(name), name]));

/** The name of a division abroad, by its name or, in Canada and Australia, its abbreviation. */
export function divisionByText(text: string): string | null {
  const slug = slugOf(text);
  return divisionBySlug.get(slug) ?? PROVINCES.get(slug) ?? null;
}
