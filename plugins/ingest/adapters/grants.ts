import { fieldOf, isObject, objectsOf, passagesOf, textField, type JsonObject } from '../text/json.ts';
import { cleanTitle, plainText } from '../text/titles.ts';
import { startOfValue } from '../text/values.ts';
import type { Adapter, Passage, PostRow } from './types.ts';

const ID = ['id', 'award_id', 'grant_id', 'Award ID'];
const AMOUNT = ['amountAwarded', 'fundsObligatedAmt', 'award_amount', 'Award Amount', 'grant_amount'];
const RECIPIENT = ['recipientOrganization', 'awardeeName', 'recipient_name', 'Recipient Name', 'grantee', 'grantee_name'];
const FUNDER = ['fundingOrganization', 'awarding_agency', 'Awarding Agency', 'agency', 'funder'];
const DATE = ['awardDate', 'date', 'award_date', 'startDate', 'Start Date', 'start_date'];
const TITLE = ['title', 'project_title', 'description', 'Description'];
const MOST_ROWS = 1000;
const LONGEST_NAME = 200;

/** Reads lists of grants in JSON by the names of their fields: the 360Giving standard, the awards of the National Science Foundation, USAspending, and open data of cities. */
export const grants: Adapter = {
  name: 'grants',
  label: 'Grants in JSON',
  source_class: 'grant_notice',
  recognises: (document) => objectsOf(document, isGrant).length > 0 ? 0.8 : 0,
  rows(document) {
    const passageOf = passagesOf(document.body ?? '', ID);
    return objectsOf(document, isGrant).slice(0, MOST_ROWS).map((grant) => rowOf(grant, passageOf));
  },
};

function isGrant(object: JsonObject): boolean {
  return amountOf(object) !== null && nameIn(object, RECIPIENT) !== null && dateOf(object) !== null;
}

function rowOf(grant: JsonObject, passageOf: (id: string) => Passage | null): PostRow {
  const [recipient, funder, amount] = [nameIn(grant, RECIPIENT)!, nameIn(grant, FUNDER), amountOf(grant)!];
  const purpose = cleanTitle(plainText(textField(grant, TITLE) ?? '')) || null;
  const id = textField(grant, ID) ?? `${recipient}:${dateOf(grant)}:${amount}`;
  const sum = [new Intl.NumberFormat('en-GB').format(amount), textField(grant, ['currency'])].filter(Boolean).join(' ');
  return {
    kind: 'post', key: id.slice(0, 300), topic: 'grant_award', title: `Grant to ${recipient}${purpose ? `: ${purpose}` : ''}`,
    summary: `${sum}${funder ? ` from ${funder}` : ''}`, url: textField(grant, ['url', 'dataSource']), published: dateOf(grant), passage: passageOf(id),
    actors: [{ name: recipient, role: 'recipient' }, ...(funder ? [{ name: funder, role: 'funder' }] : [])],
  };
}

function amountOf(object: JsonObject): number | null {
  const text = textField(object, AMOUNT);
  const amount = text === null ? NaN : Number(text.replaceAll(/[$£€,\s]/g, ''));
  return Number.isFinite(amount) && amount > 0 ? amount : null;
}

/** Returns the name of an organization: a text, an object, or the first of a list of objects. */
function nameIn(object: JsonObject, names: string[]): string | null {
  for (const name of names) {
    const value = fieldOf(object, name);
    const [first] = Array.isArray(value) ? value : [value];
    const text = isObject(first) ? first.name : first;
    if (typeof text === 'string' && text.trim()) return cleanTitle(plainText(text)).slice(0, LONGEST_NAME);
  }
  return null;
}

function dateOf(object: JsonObject): string | null {
  return DATE.map((name) => startOfValue(fieldOf(object, name), 'UTC')).find(Boolean)?.slice(0, 10) ?? null;
}
