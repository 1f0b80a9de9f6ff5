// @ts-check

/** @param {import('civic').Schema} schema */
export async function up(schema) {
  await schema.createTable('hello_greetings', {
    key: 'id',
    id: 'uuid',
    text: 'text',
    created_at: 'time',
  }, { unique: [['id']] });
}
