/** What people call places; compared without spaces, dots and case. Several keys are candidates, the first is likelier. */
export const NICKNAMES: ReadonlyMap<string, string[]> = new Map(Object.entries({
  nyc: ['new-york,new-york'], newyorkcity: ['new-york,new-york'], bigapple: ['new-york,new-york'], thebigapple: ['new-york,new-york'],
  bk: ['brooklyn,new-york'], bronx: ['the-bronx,new-york'], bronxny: ['the-bronx,new-york'], si: ['staten-island,new-york'],
  la: ['los-angeles,california', 'louisiana'], sf: ['san-francisco,california'], sanfran: ['san-francisco,california'], frisco: ['san-francisco,california', 'frisco,texas'],
  philly: ['philadelphia,pennsylvania'], nola: ['new-orleans,louisiana'], kc: ['kansas-city,missouri', 'kansas-city,kansas'], kcmo: ['kansas-city,missouri'], kck: ['kansas-city,kansas'],
  kcks: ['kansas-city,kansas'], stl: ['st-louis,missouri'], dc: ['washington,district-of-columbia'], washingtondc: ['washington,district-of-columbia'],
  districtofcolumbia: ['washington,district-of-columbia'], atl: ['atlanta,georgia'], chitown: ['chicago,illinois'], windycity: ['chicago,illinois'], beantown: ['boston,massachusetts'],
  vegas: ['las-vegas,nevada'], slc: ['salt-lake-city,utah'], okc: ['oklahoma-city,oklahoma'], indy: ['indianapolis,indiana'], jax: ['jacksonville,florida'], pdx: ['portland,oregon'],
  phx: ['phoenix,arizona'], satx: ['san-antonio,texas'], atx: ['austin,texas'], htx: ['houston,texas'], dfw: ['dallas,texas', 'fort-worth,texas'], cincy: ['cincinnati,ohio'], nawlins: ['new-orleans,louisiana'],
  pgh: ['pittsburgh,pennsylvania'], bmore: ['baltimore,maryland'], abq: ['albuquerque,new-mexico'], rva: ['richmond,virginia'], avl: ['asheville,north-carolina'], mpls: ['minneapolis,minnesota'],
  twincities: ['minneapolis,minnesota', 'st-paul,minnesota'], socal: ['california'], norcal: ['california'],
  nashvilledavidson: ['nashville,tennessee'], metronashville: ['nashville,tennessee'], louisvillejeffersoncounty: ['louisville,kentucky'], lexingtonfayette: ['lexington,kentucky'],
  athensclarkecounty: ['athens,georgia'], athensclarke: ['athens,georgia'], augustarichmondcounty: ['augusta,georgia'], augustarichmond: ['augusta,georgia'], maconbibb: ['macon,georgia'], maconbibbcounty: ['macon,georgia'],
  columbusmuscogee: ['columbus,georgia'], buttesilverbow: ['butte,montana'], anacondadeerlodge: ['anaconda,montana'], cityandcountyofhonolulu: ['honolulu,hawaii'], urbanhonolulu: ['honolulu,hawaii'],
  indianapolismarioncounty: ['indianapolis,indiana'], kansascitywyandotte: ['kansas-city,kansas'], wyandottecountykansascity: ['kansas-city,kansas'], houmaterrebonne: ['houma,louisiana'],
}));
