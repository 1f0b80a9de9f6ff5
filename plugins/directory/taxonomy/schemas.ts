import { Joi } from 'civic';

export interface IssueAreaRecord {
  slug: string;
  name: string;
  description: string;
  domain: { slug: string; name: string };
  entity_count: number;
  match_score: number | null;
}

export interface DomainRecord {
  slug: string;
  name: string;
  description: string;
  issue_area_count: number;
  issue_areas: string[];
}

export interface WholeList<Item> {
  data: Item[];
  total: number;
  /** Always null: the whole list is in one response. */
  next_cursor: string | null;
}

export interface IssueAreaQuery {
  query?: string;
  domain?: string;
}

export const issueAreaRecord = Joi.object<IssueAreaRecord, true>({
  slug: Joi.string().required().description('Lower-case words joined by underscores'),
  name: Joi.string().required(),
  description: Joi.string().required(),
  domain: Joi.object<IssueAreaRecord['domain'], true>({ slug: Joi.string().required(), name: Joi.string().required() }).required(),
  entity_count: Joi.number().integer().min(0).required().description('Public actors that have this issue area'),
  match_score: Joi.number().min(0).max(1).allow(null).required().description('How well it fits `query`; null without one'),
}).meta({ name: 'IssueArea' });

export const domainRecord = Joi.object<DomainRecord, true>({
  slug: Joi.string().required().description('Lower-case words joined by hyphens'),
  name: Joi.string().required(),
  description: Joi.string().required(),
  issue_area_count: Joi.number().integer().min(1).required(),
  issue_areas: Joi.array().items(Joi.string()).required().description('Slugs of its issue areas'),
}).meta({ name: 'Domain' });

const wholeList = <Item>(item: Joi.ObjectSchema<Item>) => Joi.object<WholeList<Item>, true>({
  data: Joi.array().items(item).required(),
  total: Joi.number().integer().min(0).required(),
  next_cursor: Joi.string().allow(null).required().description('Always null: the whole list is in one response'),
});

export const issueAreaList = wholeList(issueAreaRecord).meta({ name: 'IssueAreaList' });
export const domainList = wholeList(domainRecord).meta({ name: 'DomainList' });

export const issueAreaQuery = Joi.object<IssueAreaQuery, true>({
  query: Joi.string().trim().max(300).description('Free text; the issue areas it is about, best first'),
  domain: Joi.string().description('The slug of a domain; only its issue areas'),
});
