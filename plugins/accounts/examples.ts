import type { Example, Examples } from 'civic';

const CREATE = 'POST /api/workspaces';
const INVITE = 'POST /api/workspaces/{id}/invitations';
const MEMBERS = 'GET /api/workspaces/{id}/members';
const RECEIVED = 'GET /api/invitations';
const INVITED = 'An open invitation to your account.';

/** The personal workspace, which every account has. */
const ofOwn: Example = { given: { workspace: { of: 'GET /api/workspaces', take: '.data[0].id' } }, params: { id: '$workspace' } };
const ofNew: Example = { given: { workspace: { of: CREATE } }, params: { id: '$workspace' } };
const account = { account: { of: MEMBERS, take: '.data[0].account_id' } };
const ofInvitation: Example = { needs: INVITED, given: { invitation: { of: RECEIVED, take: '.data[0].id' } }, params: { id: '$invitation' } };

/** Requests for `/docs`. Writes change a workspace that they have created. */
export const accountExamples: Examples = {
  'GET /api/workspaces/{id}': ofOwn,
  'PATCH /api/workspaces/{id}': { ...ofNew, body: { name: 'Harbour desk' } },
  'DELETE /api/workspaces/{id}': { ...ofNew, query: { name: 'River desk' } },
  'GET /api/workspaces/{id}/audit': ofOwn,
  [CREATE]: { body: { name: 'River desk' } },
  'POST /api/workspaces/join': { variables: { CIVIC_INVITATION: 'The token of an invitation link that you received: what follows token= in it.' }, body: { token: '$CIVIC_INVITATION' } },
  [MEMBERS]: ofOwn,
  'POST /api/workspaces/{id}/members': { ...ofNew, body: { email: 'ada@example.org', role: 'member' } },
  'GET /api/workspaces/{id}/members/{account_id}': { given: { ...ofOwn.given, ...account }, params: { id: '$workspace', account_id: '$account' } },
  'PATCH /api/workspaces/{id}/members/{account_id}': { given: { ...ofNew.given, ...account }, params: { id: '$workspace', account_id: '$account' }, body: { role: 'owner' } },
  'DELETE /api/workspaces/{id}/members/{account_id}': {
    variables: { CIVIC_WORKSPACE: 'The id of a workspace that you own and that has another member.', CIVIC_MEMBER: 'The account id of that member.' },
    params: { id: '$CIVIC_WORKSPACE', account_id: '$CIVIC_MEMBER' },
  },
  'GET /api/workspaces/{id}/invitations': ofOwn,
  [INVITE]: { ...ofNew, body: { role: 'member' } },
  'DELETE /api/workspaces/{id}/invitations/{invitation_id}': { given: { ...ofNew.given, invitation: { of: INVITE } }, params: { id: '$workspace', invitation_id: '$invitation' } },
  'POST /api/invitations/{id}/accept': ofInvitation,
  'POST /api/invitations/{id}/decline': ofInvitation,
};
