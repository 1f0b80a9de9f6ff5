import { Joi } from 'civic';
import { entityReference, type EntityReference } from '../references.ts';
import { id, listOf, nullable, recordFields, time, writtenText } from '../schemas.ts';

export interface ListItem {
  entity_id: string;
  note: string | null;
  added_at: string;
  added_by: string;
  entity: EntityReference;
}

export interface List {
  id: string;
  name: string;
  description: string | null;
  item_count: number;
  created_at: string;
  updated_at: string;
  created_by: string;
  /** The first entries, where the list is read alone. */
  items?: ListItem[];
}

const name = writtenText(200).min(1);
const description = writtenText(2000).allow(null);
const note = writtenText(2000).allow(null);

export const newList = Joi.object({ name: name.required(), description }).meta({ name: 'NewList' });
export const listChange = Joi.object({ name, description }).min(1).meta({ name: 'ListChange' });

export const newItem = Joi.object({ entity_id: Joi.string().required().description('The id of a public actor or of one of the workspace'), note }).meta({ name: 'NewListItem' });
export const itemChange = Joi.object({ note: note.required() }).meta({ name: 'ListItemChange' });

export const itemShown = Joi.object<ListItem, true>({ entity_id: id, note: nullable, added_at: time, added_by: id.description('The id of the account'), entity: entityReference.required() }).meta({ name: 'ListItem' });
export const itemList = listOf(itemShown, 'ListItemList');

const listFields = { ...recordFields, name: Joi.string().required(), description: nullable, item_count: Joi.number().integer().required() };
export const listShown = Joi.object<List, true>({ ...listFields, items: Joi.array().items(itemShown).description('The first 100 entries; `/items` has all') }).meta({ name: 'List' });
export const listList = listOf(Joi.object(listFields).meta({ name: 'ListSummary' }), 'ListList');
