import type { Random } from '../random.ts';

const FIRST = `Abena Adrienne Aiden Alicia Amara Amos Anders Anita Antoine Beatriz Benedict Bettina Calvin Carmen Cecily Clara Cyrus Dalia Dana Darnell
Delphine Dermot Dolores Dwight Edith Eduardo Elena Elias Emeka Esther Ezra Fatima Felix Fiona Gareth Gloria Graciela Grant Hanna Harriet Hector Hollis
Ida Imani Ines Isaac Jamal Jolene Jonah Josefina Joyce Kamala Keiko Kendra Lamar Leila Leon Lorraine Lucia Malcolm Marcus Maren Mateo Maura Mei Miriam
Naomi Nasir Nell Noor Octavio Odessa Olga Otis Paloma Priya Quentin Rafael Ramona Renata Rosalind Rufus Samira Saul Selma Sergio Shauna Silas Soledad
Tamsin Teodoro Thelma Tobias Ursula Vera Vernon Wanda Wendell Xiomara Yasmin Yusuf Zelda`.split(/\s+/);

const LAST = `Abernathy Achebe Aldous Amador Ansari Arceneaux Baptiste Barlowe Bencomo Birdsong Blackwood Bouchard Brandt Broussard Calloway Castellano
Chaudhry Cisneros Coppola Crowfeather Dabrowski Dandridge Delacroix Demetriou Dunaway Eklund Ellsworth Escobedo Fairweather Farrow Fitzhugh Fontaine
Gallegos Gantry Gebremariam Goodnight Grijalva Haddad Halvorsen Hargrove Hathaway Hightower Hollowell Ibarra Ishikawa Jankowski Jessup Kaminski Karimi
Kilbride Kowalczyk Lachance Landry Larsson Leatherwood Lindqvist Lockhart Lonewolf Macready Maldonado Marchetti Mbeki McElroy Merriweather Montoya
Moriarty Nakagawa Nwosu O’Dell Okafor Olivares Oyelaran Paquette Parrish Pemberton Petrossian Quiñones Radcliffe Ransom Redfern Renaud Robicheaux
Rosenthal Saavedra Santangelo Sepulveda Shadid Silverthorne Sorensen Stackhouse Sundberg Tallchief Teague Thibodeaux Tolliver Trujillo Underhill
Valverde Vandermeer Varga Villaseñor Wakefield Westergaard Whitlock Winterbourne Yellowhorse Youngblood Zamora Zielinski`.split(/\s+/);

/** Names of people, none of them twice. */
export function peopleNames(random: Random): () => string {
  const taken = new Set<string>();
  return () => {
    for (;;) {
      const name = `${random.pick(FIRST)} ${random.pick(LAST)}`;
      if (taken.has(name)) continue;
      taken.add(name);
      return name;
    }
  };
}

export function surnameOf(name: string): string {
  return name.slice(name.indexOf(' ') + 1);
}
