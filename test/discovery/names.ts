const GIVEN = ['Maria', 'Thomas', 'Susan', 'James', 'Linda', 'Robert', 'Patricia', 'David', 'Angela', 'Michael', 'Teresa', 'William', 'Sandra', 'Richard', 'Denise', 'Joseph', 'Carmen', 'Charles', 'Monica', 'Daniel',
  'Rebecca', 'Anthony', 'Gloria', 'Steven', 'Yolanda', 'Kevin', 'Theresa', 'Brian', 'Rosa', 'George', 'Diane', 'Edward', 'Alice', 'Ronald', 'Julia', 'Timothy', 'Evelyn', 'Jason', 'Judith', 'Jeffrey', 'Vanessa'];
const FAMILY = ['Delgado', 'Okafor', 'Whitfield', 'Nguyen', 'Brandt', 'Castillo', 'Fitzgerald', 'Hoffman', 'Jefferson', 'Kowalski', 'Lindqvist', 'Mbeki', 'Navarro', 'Osborne', 'Petrov', 'Quintero', 'Ramirez', 'Schneider', 'Thompson',
  'Underwood', 'Valdez', 'Washington', 'Yamamoto', 'Zimmerman', 'Abbott', 'Barrera', 'Callahan', 'Dominguez', 'Espinoza', 'Franklin', 'Gutierrez', 'Harrington', 'Ibrahim', 'Jankowski', 'Kaplan', 'Lombardi', 'McCarthy', 'Nakamura',
  'Ortega', 'Patterson', 'Rosenberg', 'Sullivan', 'Torres', 'Vasquez', 'Wallace', 'Youngblood', 'Zapata'];

/** Names of people, each once: the numbers of both lists have no common divisor, so that each pair comes once. */
export function createNames(): () => string {
  let next = 0;
  return () => {
    const at = next++;
    if (at >= GIVEN.length * FAMILY.length) throw new Error('There are no more names');
    return `${GIVEN[at % GIVEN.length]} ${FAMILY[at % FAMILY.length]}`;
  };
}
