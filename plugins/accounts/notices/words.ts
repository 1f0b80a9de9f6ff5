import type { Texts } from 'civic';
import { deviceWords } from '../settings/device.ts';

/** Security events that are reported to the account. */
export type NoticeKind = 'passkey_added' | 'passkey_removed' | 'key_made' | 'email_requested' | 'email_changed' | 'signed_in' | 'link_used' | 'code_used' | 'codes_made' | 'of_plugin';

type Detail = Record<string, string | null>;

/** Returns a notice as a sentence. The sentence of another plugin is in the language in which that plugin wrote it. */
export function noticeWords(kind: NoticeKind, detail: Detail, t: Texts): string {
  const { name, to, text, browser = null, system = null } = detail;
  if (kind === 'of_plugin') return text ?? '';
  if (kind === 'email_changed' && !to) return t('notices.email_removed');
  // A code also confirms a change, without a new session.
  if (kind === 'code_used' && !('browser' in detail)) return t('notices.code_confirmed');
  return t(`notices.${kind}`, { name, to, device: deviceWords({ browser, system }, t) });
}
