import type { HeaderPart } from 'civic';
import { reviewerPages } from '../console/plugin-pages.ts';
import type { ConsolePage } from '../service.ts';
import { nextOf } from '../signin/page.ts';
import type { Sessions } from '../signin/sessions.ts';
import type { SettingsEntry } from './context.ts';

/** Who is signed in, where they work and the way out: in the header of every page. */
export function visitorPart(sessions: Sessions, entries: SettingsEntry[], consolePages: ConsolePage[]): HeaderPart {
  return {
    partial: 'accounts/visitor',
    fill(request) {
      const visit = sessions.visitOf(request);
      const here = nextOf(request.method === 'get' || request.method === 'head' ? request.path + request.url.search : '/account');
      if (!visit) return { isNobody: !request.path.startsWith('/sign-in'), next: encodeURIComponent(here) };
      const { person, memberships, workspace, isFull } = visit;
      return {
        name: person.name, email: person.email, isFull, isAdmin: person.role === 'admin', here, entries, reviews: person.role === 'reviewer' ? reviewerPages(consolePages) : [],
        workspace: memberships.length > 1 ? workspace?.name : null,
        workspaces: memberships.length > 1 ? memberships.map(({ id, name }) => ({ id, name, isChosen: id === workspace?.id })) : null,
      };
    },
  };
}
