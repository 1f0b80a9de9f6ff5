import { Joi, type ConfigFragment } from 'civic';
import { TARGET_FORM } from './audit/target.ts';
import type { PlanOptions } from './plans/plans.ts';

export interface AccountsConfig {
  plans: Record<string, Partial<PlanOptions>>;
  default_plan: string;
  show_prices: boolean;
  link_minutes: number;
  invitation_days: number;
  max_memberships_per_account: number;
  max_members_per_workspace: number;
  max_invitations_per_workspace: number;
  session_days: number;
  session_most_days: number;
  mail: { smtp_url: string | null; from: string | null };
  audit: { key: string | null; stream: string | null };
}

const none = { keys: 0, runs_per_month: 0, streams: 0, sessions: 0, watched_sources: 0 };

export const PLANS: Record<string, Partial<PlanOptions>> = {
  free: { price: '0', requests_per_minute: 60, requests_per_day: 2000, ...none },
  individual: { price: '5 a month', requests_per_minute: 300, requests_per_day: 20_000, keys: 1, runs_per_month: 20, streams: 5, sessions: 20, watched_sources: 20 },
  research_pass: { price: 'once', requests_per_minute: 600, requests_per_day: 50_000, keys: 3, runs_per_month: 100, streams: 10, sessions: 50, watched_sources: 50, days: 90 },
  team: { price: 'by seat', requests_per_minute: 1200, requests_per_day: 200_000, keys: 20, runs_per_month: 500, streams: 50, sessions: 500, watched_sources: 500 },
};

const count = Joi.number().integer().min(0);
const plan = Joi.object({
  price: Joi.string(),
  requests_per_minute: count, requests_per_day: count, keys: count, runs_per_month: count, streams: count, sessions: count, watched_sources: count,
  days: Joi.number().integer().min(1).allow(null),
});

export const accountOptions: ConfigFragment = {
  plans: {
    doc: 'All plans of this instance, by name. What a plan leaves out it does not have; with `days` it ends so long after it was given.',
    format: Joi.object().pattern(/^[a-z][a-z0-9_]*$/, plan) as never,
    default: PLANS,
  },
  default_plan: {
    doc: 'The plan of accounts that the operator did not create, and of those whose plan has ended.',
    format: String,
    default: 'free',
  },
  show_prices: {
    doc: 'Show the prices of plans on account pages; `/api/plans` always has them.',
    format: Boolean,
    default: false,
  },
  link_minutes: {
    doc: 'How long a sign-in link can be used.',
    format: Joi.number().integer().min(1).max(1440),
    default: 30,
  },
  invitation_days: {
    doc: 'How long an invitation to a workspace can be used.',
    format: Joi.number().integer().min(1).max(90),
    default: 7,
  },
  max_memberships_per_account: {
    doc: 'The most workspaces an account belongs to, its personal one included.',
    format: Joi.number().integer().min(1).max(10_000),
    default: 50,
  },
  max_members_per_workspace: {
    doc: 'The most members a workspace has.',
    format: Joi.number().integer().min(1).max(10_000),
    default: 500,
  },
  max_invitations_per_workspace: {
    doc: 'The most invitations of a workspace that are open at once.',
    format: Joi.number().integer().min(1).max(10_000),
    default: 100,
  },
  session_days: {
    doc: 'How long somebody stays signed in on the web pages without coming back.',
    format: Joi.number().integer().min(1).max(365),
    default: 30,
  },
  session_most_days: {
    doc: 'After so many days everybody signs in anew, however often they came.',
    format: Joi.number().integer().min(1).max(365),
    default: 90,
  },
  mail: {
    smtp_url: {
      doc: 'The mail server for sign-in links, invitations and security notices; null sends none.',
      format: Joi.string().pattern(/^smtps?:\/\/[^\s/]+/).description('an address such as smtp://user:password@mail.example.org:587 or smtps://…'),
      nullable: true,
      default: null,
      sensitive: true,
    },
    from: {
      doc: 'The sender of those mails; null is noreply at the host of public_url.',
      format: String,
      nullable: true,
      default: null,
    },
  },
  audit: {
    key: {
      doc: 'The key that seals the audit record, 32 characters or more; null keeps one in the file audit.key of the data folder. Several nodes need the same.',
      format: Joi.string().min(32),
      nullable: true,
      default: null,
      sensitive: true,
    },
    stream: {
      doc: 'Where the audit record is copied to, a line of JSON each: file:/path, syslog://host:port (UDP), syslog+tcp://host:port or syslog+unix:/path; null copies it nowhere.',
      format: Joi.string().pattern(TARGET_FORM).description('an address such as file:/var/log/civic-audit.ndjson or syslog://127.0.0.1:514'),
      nullable: true,
      default: null,
    },
  },
};
