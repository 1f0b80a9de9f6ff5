import type { ServerRoute } from '@hapi/hapi';
import type { Texts } from 'civic';
import type { Site } from '../site.ts';
import { linkOf } from '../words.ts';

/** The words that pages use, in the order in which the page explains them. Each is an anchor, such as `/about#entry`. */
const WORDS = ['entry', 'statement', 'source', 'place', 'issue', 'topic', 'coverage', 'freshness', 'likely', 'disagree', 'signal'];

export function aboutPage(site: Site): ServerRoute {
  const { config, instance } = site.civic;
  return site.page({
    path: '/about',
    load: async (request, t) => ({
      template: 'about',
      context: {
        title: t('about.title'),
        description: t('about.lead'),
        canonical: '/about',
        about: paragraphs(config.about),
        operator: config.operator,
        contact: linkOf(config.contact),
        licence: linkOf(config.licence),
        corrections: await site.civic.pages.parts('site.corrections', request),
        words: WORDS.map((id) => explained(id, t)),
        linkedData: {
          '@context': 'https://schema.org', '@type': 'AboutPage', name: t('about.title'), url: site.civic.url('/about'),
          ...(config.operator && { publisher: { '@type': 'Organization', name: config.operator } }),
          isPartOf: { '@type': 'WebSite', name: instance.name, url: site.civic.url('/') },
        },
      },
    }),
  });
}

const paragraphs = (text: string | null): string[] => text?.split(/\n\s*\n/).map((part) => part.trim()).filter((part) => part !== '') ?? [];

const explained = (id: string, t: Texts) => ({ id, word: t(`about.words.${id}.word`), meaning: t(`about.words.${id}.meaning`) });
