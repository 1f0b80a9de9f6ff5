import { Joi, type ConfigFragment, type OffDeclarations, type Vocabulary } from 'civic';
import { TARGET_FORM } from './audit/target.ts';
import { PLAN_MEMBERS, type PlanOptions } from './plans/plans.ts';

export interface AccountsConfig {
  plans: Record<string, PlanOptions>;
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

const PLANS: Record<string, PlanOptions> = {
  free: { price: '0' },
  individual: { price: '5 a month' },
  research_pass: { price: 'once', days: 90 },
  team: { price: 'by seat' },
};

/** The plans of an instance whose operator configures none, with the values that plugins declare for their limits. */
export function defaultPlans({ limits }: Pick<Vocabulary, 'limits'>): Record<string, PlanOptions> {
  return Object.fromEntries(Object.entries(PLANS).map(([name, { price, ...rest }]) => {
    const values = [...limits].filter(([limit]) => !PLAN_MEMBERS.includes(limit)).map(([limit, { plans = {} }]) => [limit, plans[name] ?? 0]);
    return [name, { price, ...Object.fromEntries(values), ...rest }];
  }));
}

const count = Joi.number().integer().min(0).max(1_000_000_000);

/** Limits of plugins that are off may stay in the file: switching a plugin off breaks no plan. */
function planFormat({ limits }: Vocabulary, off: OffDeclarations): Joi.Schema {
  const declared = Object.fromEntries([...limits.keys(), ...off.limits.keys()].map((limit) => [limit, count]));
  return Joi.object({ ...declared, price: Joi.string(), days: Joi.number().integer().min(1).allow(null) });
}

export function accountOptions(vocabulary: Vocabulary, off: OffDeclarations): ConfigFragment {
  return {
    plans: {
      doc: 'All plans of this instance, by name. A limit that a plan omits is 0. With `days` a plan ends so many days after it was given.',
      format: Joi.object().pattern(/^[a-z][a-z0-9_]*$/, planFormat(vocabulary, off)) as never,
      default: defaultPlans(vocabulary),
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
      doc: 'Days until an unused session of the web pages expires.',
      format: Joi.number().integer().min(1).max(365),
      default: 30,
    },
    session_most_days: {
      doc: 'Days until every session of the web pages expires.',
      format: Joi.number().integer().min(1).max(365),
      default: 90,
    },
    mail: {
      smtp_url: {
        doc: 'The mail server for sign-in links, invitations, security notices and the mails of other plugins; null sends none.',
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
}
