import type { ServerRoute } from '@hapi/hapi';
import type { SettingsContext } from './context.ts';
import { invitationPageRoutes } from './invitation.ts';
import { keyRoutes } from './keys.ts';
import { passkeyRoutes } from './passkeys.ts';
import { planPageRoutes } from './plan.ts';
import { profileRoutes } from './profile.ts';
import { recoveryRoutes } from './recovery.ts';
import { sessionRoutes } from './sessions.ts';
import { workspacePageRoutes } from './workspaces.ts';

/** The pages of one's own account. */
export function settingsRoutes(context: SettingsContext): ServerRoute[] {
  return [profileRoutes, passkeyRoutes, recoveryRoutes, sessionRoutes, keyRoutes, workspacePageRoutes, invitationPageRoutes, planPageRoutes].flatMap((routes) => routes(context));
}
