/** Security events that are reported to the account. */
export type NoticeKind = 'passkey_added' | 'passkey_removed' | 'key_made' | 'email_requested' | 'email_changed' | 'signed_in' | 'link_used' | 'code_used' | 'codes_made' | 'of_plugin';

type Detail = Record<string, string | null>;

const named = (what: string, verb: string) => ({ name }: Detail): string => `${what} “${name}” was ${verb}.`;
const from = ({ device }: Detail): string => (device ? ` with ${device}` : '');

const WORDS: Record<NoticeKind, (detail: Detail) => string> = {
  passkey_added: named('The passkey', 'added'),
  passkey_removed: named('The passkey', 'removed'),
  key_made: named('The API key', 'created'),
  email_requested: ({ to }) => `A change of the e-mail address to ${to} was requested. It takes effect once that address is confirmed.`,
  email_changed: ({ to }) => (to ? `The e-mail address was changed to ${to}.` : 'The e-mail address was removed.'),
  signed_in: (detail) => `New sign-in${from(detail)}.`,
  link_used: (detail) => `New sign-in${from(detail)}, by a sign-in link.`,
  code_used: (detail) => `New sign-in${from(detail)}, by a recovery code, which is used up.`,
  of_plugin: ({ text }) => text ?? '',
  codes_made: () => 'New recovery codes were created. The old ones no longer work.',
};

export function noticeWords(kind: NoticeKind, detail: Detail): string {
  return WORDS[kind](detail);
}
