/** Words that a notice uses for a meeting that is off. */
const STATUS = '(?:cancell?ed|postponed|deferred|cancelad[ao]s?|suspendid[ao]s?|aplazad[ao]s?|pospuest[ao]s?)';
const DAY = "(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?|(?:mon|tues?|wednes|thurs?|fri|satur|sun)(?:day)?|today(?:['’]s)?|tonight(?:['’]s)?|[ap]\\.?m\\.?|at|the|of|this|next|week|month|noon|[\\d/:.-]+(?:st|nd|rd|th|[ap]m)?),?";
const KIND = '(?:meetings?|hearings?|sessions?|workshops?|forums?|events?|retreat|caucus|town hall|committees?|subcommittee|commission|boards?|council|authority|task force|reuni[oó]n|sesi[oó]n|audiencia|junta|consejo|comit[eé]|asamblea|taller)';
const PLAIN = `(?:the|this|its|our|regular|regularly|scheduled|special|virtual|public|joint|work|city|county|town|village|school|zoning|planning|plan|budget|finance|executive|monthly|annual|la|el|esta|${KIND})`;
const VERB = '(?:has been|have been|has now been|is|is hereby|are|was|were|will be|ha sido|fue|est[aá]|queda)';
/** What may follow: why, until when, or what happens instead. */
const MORE = `(?:,? (?:until|due to|because|owing to|for lack of|for want of|as|at|by|to|and|debido|por|hasta|rescheduled|${DAY}|(?:in|on|for) ${DAY})(?: .*)?)?`;

const ANY = new RegExp(`${STATUS}|cancellation|\\bno .*meeting|will not|no habr`, 'i');
const ONLY = new RegExp(`^${STATUS}$`, 'i');
const WHERE = new RegExp(`\\b${STATUS}\\b|\\bwill not\\b`, 'i');
const BARE = new RegExp(`^(?:${DAY} )*${STATUS}${MORE}$`, 'i');
const BEFORE_KIND = new RegExp(`^(?!deferred)${STATUS}(?: ${PLAIN})+$`, 'i');
const AFTER_KIND = new RegExp(`(?:^|[ /])${KIND}(?: (?:of|for) [^,]{1,80}?)?(?: ${DAY}){0,6} ${STATUS}${MORE}$`, 'i');
const SENTENCE = new RegExp(`(?:^|[ /])${KIND}(?: .*)? (?:${VERB} ${STATUS}${MORE}|will not (?:be held|meet|take place)(?: .*)?)$`, 'i');
const NO_MEETING = new RegExp(`^(?:there (?:is|will be) |${DAY} )*(?:no (?:${PLAIN} )*meetings?|no habr[aá] (?:reuni[oó]n|sesi[oó]n|audiencia))(?: (?:scheduled|will be held))?${MORE}$`, 'i');
const NOTICE = new RegExp(`^(?:notice of )?(?:.* (?:meeting|hearing) |(?:meeting|hearing) )?cancellation(?: notice)?(?: of(?: ${PLAIN})+)?$`, 'i');

/** `Item 12 has been postponed`, and meetings that are only mentioned, are not about the meeting itself. */
const OTHER = /\b(?:items?|agenda|resolutions?|res|ordinances?|ord|bills?|applications?|cases?|contracts?|motions?|votes?|registrations?|replac\w+|instead|if|unless|when|whether|once|may|might|could|would|not|why|how|that|which|about|you|we|please|in case)\b/i;
const ITEM = /\b(?:items?|resolutions?|res|ordinances?|ord|bills?|applications?|cases?)\b\.?(?: (?:no\.?|#)?\s?[\w-]*\d[\w-]*)?$/i;
const UPPER_FIRST = /^(?:CANCELL?ED|POSTPONED|DEFERRED|CANCELAD[AO]|SUSPENDID[AO]|APLAZAD[AO]|POSPUEST[AO])\b.*[a-z]/;
const UPPER_LAST = /[a-z].*\b(?:CANCELL?ED|POSTPONED|DEFERRED|CANCELAD[AO]|SUSPENDID[AO]|APLAZAD[AO]|POSPUEST[AO])$/;

const LONGEST_PART = 300;
const BETWEEN = /\s*(?:\s[-–—]+\s|[–—|•*_~\t]+|-{2,}|\s{3,}|:(?!\d)|(?<=\w{4})[.!?;](?=\s|$))\s*/;
const TOUCHING = new RegExp(`(\\b${STATUS})\\s?-|-\\s?(${STATUS}\\b)`, 'gi');

/** Whether a text says that the meeting itself is off: a word such as `CANCELLED` stands as a mark of its own, or a sentence says it of the meeting. */
export function saysCancelled(text: string): boolean {
  return text.split('\n').some((line) => ANY.test(line) && lineSaysCancelled(line));
}

function lineSaysCancelled(line: string): boolean {
  const marked = line.replace(TOUCHING, '$1 - $2');
  const bracketed = [...marked.matchAll(/[([]([^()[\]]*)[)\]]/g)].map(({ 1: inner = '', index }) => ({ inner: clean(inner), before: clean(marked.slice(0, index)) }));
  if (bracketed.some(({ inner, before }) => isMark(inner) && !ITEM.test(before))) return true;
  const parts = marked.replace(/[([][^()[\]]*[)\]]/g, ' ').split(BETWEEN).map(clean).filter(Boolean);
  const last = parts.length - 1;
  return isMark(parts[0] ?? '') || (isMark(parts[last] ?? '') && !ITEM.test(parts[last - 1] ?? '')) || hasBareEnd(parts) || (!/\breplac(?:es|ing)\b/i.test(line) && parts.some(isSentence));
}

/** `City Hall, cancelled`. */
function hasBareEnd(parts: string[]): boolean {
  const last = (parts.at(-1) ?? '').split(/,\s*/).at(-1)!;
  return ONLY.test(last) && !OTHER.test(parts.join(' '));
}

function isMark(part: string): boolean {
  if (part.length > LONGEST_PART) return false;
  if (BARE.test(part) || BEFORE_KIND.test(part) || NO_MEETING.test(part) || NOTICE.test(part)) return true;
  return (UPPER_FIRST.test(part) || UPPER_LAST.test(part)) && !OTHER.test(part);
}

function isSentence(part: string): boolean {
  if (part.length > LONGEST_PART) return false;
  const subject = part.split(WHERE)[0]!;
  return (AFTER_KIND.test(part) || SENTENCE.test(part) || NO_MEETING.test(part)) && !OTHER.test(subject);
}

function clean(part: string): string {
  return part.replace(/\s+/g, ' ').replace(/^[\s.,!?;"'“”]+|[\s.,!?;"'“”]+$/g, '');
}
