import type { Schema } from 'civic';

/** The gazetteer, which `upgrade` fills, and the places that are added to it. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('directory_places', {
    // Of GeoNames where it has one; others begin at 1,900,000,000.
    key: 'int',
    place_key: 'text',
    name: 'text',
    squashed: 'text',
    state: 'text?',
    admin1: 'text?',
    country: 'text',
    kind: 'text',
    latitude: 'real?',
    longitude: 'real?',
    population: 'int?',
    ocd_id: 'text?',
  }, { primary: ['key'], unique: [['place_key']], index: [['squashed']], derived: true });

  await schema.createTable('directory_place_aliases', { squashed: 'text', state: 'text', place: 'int' }, { primary: ['squashed', 'state'], derived: true });
  await schema.createTable('directory_zips', { zip: 'int', place: 'int' }, { primary: ['zip'], derived: true });

  // One row while the tables above are filled: the version of the data, and a mark that changes with every change.
  await schema.createTable('directory_gazetteer', { version: 'text', revision: 'text' }, { primary: ['version'], derived: true });

  // Places that the operator or the demo adds; `directory_places` has a copy of each.
  await schema.createTable('directory_own_places', {
    key: 'id',
    origin: 'text',
    place_key: 'text',
    name: 'text',
    state: 'text?',
    admin1: 'text?',
    country: 'text',
    kind: 'text',
    latitude: 'real?',
    longitude: 'real?',
    population: 'int?',
    ocd_id: 'text?',
  }, { unique: [['place_key']], index: [['origin']] });
}
