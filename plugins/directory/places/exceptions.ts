// What the rules get wrong, by hand: where GeoNames, the Census and people do not agree.

/** Names that are written another way by the place itself. */
export const MISSPELT: Record<string, string> = {
  'New York City, NY': 'New York', 'Washington, D.C., DC': 'Washington',
};

/** GeoNames ids of one government under two names: the former is dropped, the larger population stays. */
export const SAME_AS: Record<number, number> = {
  4297999: 4297983, // Lexington-Fayette
};

/** Governments that are a county too, or have another name in Open Civic Data. */
export const OCD_IDS: Record<string, string> = {
};

export const KINDS: Record<string, string> = {
  'manhattan,new-york': 'borough', 'brooklyn,new-york': 'borough', 'queens,new-york': 'borough', 'the-bronx,new-york': 'borough', 'staten-island,new-york': 'borough',
};
