import type { NameLine } from './alignment.ts';

const SURNAMES = new Set(`
  wang li zhang liu chen yang zhao huang zhou wu xu sun hu zhu gao lin he guo ma luo liang song zheng xie han tang feng yu dong xiao cheng cao yuan deng peng zeng lu su jiang cai jia ding wei
  xue ye yan pan du dai xia zhong tian ren jiang fan fang shi yao tan liao zou xiong jin hao kong bai cui kang mao qiu qin gu hou shao meng long wan duan qian yin kim park lee choi jung kang cho yoon
`.trim().split(/\s+/));
const SYLLABLES = /^(?:(?:zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw])(?:iang|iong|uang|ang|eng|ing|ong|ian|iao|uai|uan|eon|yeo?|oo|ae|eu|ai|ao|an|ei|en|ia|ie|in|iu|ou|ua|ue|ui|un|uo|a|e|i|o|u)(?:ng?|k|l)?)+$/;

/** Whether a name is Chinese or Korean in Latin letters: each of its syllables is a word, so that another one makes another name. */
export function isOfSyllables({ words }: NameLine): boolean {
  return words.length > 1 && words.every(({ text }) => SYLLABLES.test(text)) && [words[0]!, words.at(-1)!].some(({ text }) => SURNAMES.has(text));
}
