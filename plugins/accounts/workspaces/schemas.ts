import { Joi } from 'civic';
import { WORKSPACE_ROLES, type Workspace } from '../types.ts';

const id = Joi.string().required();
const time = Joi.string().isoDate().required();
const role = Joi.string().valid(...WORKSPACE_ROLES).required();

export const workspace = Joi.object<Workspace, true>({
  id,
  name: Joi.string().required(),
  personal: Joi.boolean().required().description('Whether it belongs to one account and has no other members'),
  role: role.description('What you are in it'),
  created_at: time,
}).meta({ name: 'Workspace' });

export const newWorkspace = Joi.object({ name: Joi.string().trim().min(1).max(200).required() }).meta({ name: 'NewWorkspace' });

export const workspaceChange = Joi.object({ name: Joi.string().trim().min(1).max(200).required() }).meta({ name: 'WorkspaceChange' });
export const workspaceDeletion = Joi.object({ name: Joi.string().max(200).required().description('The name of the workspace, so that no other one is deleted by mistake') });

const nullable = Joi.string().allow(null).required();

export const member = Joi.object({
  account_id: nullable.description('Null while an invitation by e-mail is open'),
  name: nullable.description('Null until the account has accepted'),
  email: nullable.description('The address that an open invitation names, as it was given; null for members'),
  role,
  since: time.description('When the account joined, or was invited'),
  status: Joi.string().valid('active', 'pending').required().description('`pending` is invited and has no access; only owners and administrators see these'),
  invitation_id: nullable.description('The open invitation; null for members'),
}).meta({ name: 'Member' });

export const newMember = Joi.object({
  account_id: Joi.string(),
  email: Joi.string().trim().max(254).email({ tlds: { allow: false } }),
  role: Joi.string().valid(...WORKSPACE_ROLES).default('member'),
}).xor('account_id', 'email').meta({ name: 'NewMember' });

export const memberChange = Joi.object({ role }).meta({ name: 'MemberChange' });

const invitationFields = {
  id, role,
  account_id: nullable.description('The account it is for; null when it is for an e-mail address or the bearer of its link'),
  email: nullable.description('The address it is for, as it was given'),
  created_by: id, created_at: time, expires_at: time,
};

export const invitation = Joi.object(invitationFields).meta({ name: 'Invitation' });

export const createdInvitation = Joi.object({ ...invitationFields, url: Joi.string().required().description('The link to hand over, shown this once') }).meta({ name: 'MadeInvitation' });

export const newInvitation = Joi.object({ role: Joi.string().valid(...WORKSPACE_ROLES).default('member') }).meta({ name: 'NewInvitation' });

export const receivedInvitation = Joi.object({
  id,
  workspace: Joi.object({ id, name: Joi.string().required() }).required(),
  role,
  invited_by: Joi.string().required().description('The name of the member who sent it'),
  created_at: time,
  expires_at: time,
}).meta({ name: 'ReceivedInvitation' });

export const joining = Joi.object({ token: Joi.string().max(200).required().description('What follows `token=` in the link') }).meta({ name: 'Joining' });

export const auditLine = Joi.object({
  seq: Joi.number().required(),
  at: time,
  kind: Joi.string().required(),
  account_id: Joi.string().allow(null).required().description('Who did it; null when the operator did'),
  subject: Joi.string().allow(null).required().description('To whom or what'),
  detail: Joi.object().unknown().required(),
}).meta({ name: 'AuditLine' });

/** A list that is answered whole. */
export function wholeList(item: Joi.Schema, name: string): Joi.Schema {
  return Joi.object({ data: Joi.array().items(item).required(), total: Joi.number().required(), next_cursor: Joi.any().valid(null).required() }).meta({ name });
}

export const auditList = Joi.object({ data: Joi.array().items(auditLine).required(), total: Joi.number().required(), next_cursor: Joi.string().allow(null).required() }).meta({ name: 'AuditList' });
