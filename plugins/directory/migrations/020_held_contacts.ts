import type { Schema } from 'civic';

interface Held {
  property: string;
  /** JSON. */
  value: string;
  hold_key: number;
}

/** The contacts that a hold hides of all public people, in one form however claims write them. */
export async function up(schema: Schema): Promise<void> {
  await schema.createTable('directory_held_contacts', { contact: 'text', hold_key: 'bigint' }, {
    primary: ['contact', 'hold_key'], index: [['hold_key']], references: { hold_key: 'directory_holds.key' },
  });
  const held: Held[] = await schema.tx('directory_held_claims').join('directory_claims', 'directory_claims.key', 'directory_held_claims.claim_key')
    .select('directory_claims.property', 'directory_claims.value', 'directory_held_claims.hold_key');
  for (const { hold_key, ...claim } of held) await schema.tx('directory_held_contacts').insert({ contact: contactOf(claim), hold_key }).onConflict(['contact', 'hold_key']).ignore();
}

/** Returns the form of addresses and American numbers. The holds that exist now last a few days, so others are not worth a library. */
function contactOf({ property, value }: Pick<Held, 'property' | 'value'>): string {
  const given = (JSON.parse(value) as string).trim();
  if (property === 'email') return `e:${given.toLowerCase().replace(/^mailto:/, '').replace(/\+[^@]*@/, '@')}`;
  const [, number] = /^(?:\+?1)?([2-9]\d{2}[2-9]\d{6})$/.exec(given.replace(/[\s().-]/g, '')) ?? [];
  return `p:${number ? `+1${number}` : given}`;
}
