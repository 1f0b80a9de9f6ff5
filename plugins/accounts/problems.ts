import type { ProblemKinds } from 'civic';

export const accountProblems = {
  misplaced_key: {
    status: 401,
    title: 'The API key is in the wrong place',
    advice: 'Send an API key in the header `X-API-Key`. `Authorization` is for OAuth tokens, and addresses end up in logs.',
    anywhere: true,
  },
  workspace_forbidden: {
    status: 403,
    title: 'You may not do this in that workspace',
    advice: 'Choose a workspace you belong to in `X-Workspace-ID`; `/api/workspaces` lists them with your role in each.',
    anywhere: true,
  },
  unknown_workspace: { status: 404, title: 'No such workspace', advice: 'List those you belong to at `/api/workspaces`.' },
  unknown_member: { status: 404, title: 'No such member', advice: 'List the members of the workspace at `/api/workspaces/{id}/members`.' },
  unknown_invitation: { status: 404, title: 'No such invitation', advice: 'It may have been used, declined or withdrawn, or has expired: ask for another one.' },
  already_invited: { status: 409, title: 'Already invited', advice: 'Wait until the invitation is accepted or declined, or withdraw it; `/api/workspaces/{id}/invitations` lists it.' },
  invitation_limit: { status: 409, title: 'Too many open invitations', advice: 'Withdraw invitations that are no longer needed, or wait until they are accepted or expire.' },
  member_limit: { status: 409, title: 'The workspace is full', advice: 'Ask an administrator of the workspace to remove members who left, or the operator to raise `max_members_per_workspace`.' },
  membership_limit: { status: 409, title: 'Too many workspaces', advice: 'Leave a workspace that is no longer needed, or ask the operator to raise `max_memberships_per_account`.' },
  already_member: { status: 409, title: 'Is a member already', advice: 'Change the role of a member with PATCH.' },
  confirmation_required: { status: 403, title: 'Confirm that it is you', advice: 'This change needs a recent proof of identity. Load the page again, send the form, and confirm with a passkey.' },
  email_taken: { status: 409, title: 'Another account has this address', advice: 'Use another e-mail address, or ask the operator which account has this one.' },
  unknown_email_change: { status: 404, title: 'No such e-mail change', advice: 'It was cancelled, replaced or confirmed already: request the address again.' },
  last_owner: { status: 409, title: 'A workspace keeps an owner', advice: 'Make somebody else owner first.' },
  last_administrator: { status: 409, title: 'An instance keeps an administrator', advice: 'Give another account the role admin first: `bin/civic account set-role --role admin`, or `/console/accounts`.' },
  name_mismatch: { status: 409, title: 'This is not the name of the workspace', advice: 'Deleting cannot be undone: repeat the exact name of the workspace in `name`.' },
  personal_workspace: { status: 409, title: 'A personal workspace is for one', advice: 'Make a workspace that others may join.' },
  key_limit: { status: 403, title: 'The plan has no room for another key', advice: 'Revoke a key that is no longer used, or take a plan with more; `/api/plans` shows them.' },
} satisfies ProblemKinds;
