import type { ConfigFragment } from 'civic';

export interface SiteConfig {
  about: string | null;
  operator: string | null;
  contact: string | null;
  licence: string | null;
}

export const siteOptions: ConfigFragment = {
  about: { doc: 'What this instance is, in a few sentences. The home page and /about show them.', format: String, default: null, nullable: true },
  operator: { doc: 'Who runs this instance, such as "Harbour Town Library".', format: String, default: null, nullable: true },
  contact: { doc: 'How visitors reach the operator: an e-mail address or a URL.', format: String, default: null, nullable: true },
  licence: { doc: 'The licence of the data, such as "CC BY 4.0", or the URL of its text.', format: String, default: null, nullable: true },
};
