// @ts-check

/** @param {import('civic').Schema} schema */
export async function up(schema) {
  await schema.createTable('herons_counts', {
    key: 'id',
    id: 'uuid',
    account_id: 'uuid',
    site: 'text',
    birds: 'int',
    source_url: 'text',
    counted_at: 'time',
  }, { unique: [['id']], index: [['counted_at']] });
  await schema.createTable('herons_days', { account_id: 'uuid', day: 'text', reports: 'int' }, { primary: ['account_id', 'day'] });
  await schema.createTable('herons_sites', { site: 'text', birds: 'bigint' }, { primary: ['site'] });
}
