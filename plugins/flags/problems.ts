import type { ProblemKinds } from 'civic';

export const flagProblems = {
  unknown_flag: { status: 404, title: 'No such flag', advice: 'Use the full id, as GET /api/flags returns it.' },
  unknown_receipt: { status: 404, title: 'No such receipt', advice: 'Enter the receipt as it was shown after the report. Spaces, hyphens and capitals do not matter.' },
  flag_transition: { status: 409, title: 'The flag cannot get this status', advice: 'An open flag is accepted or dismissed; an accepted flag is resolved.' },
  undo_conflict: { status: 409, title: 'The decision cannot be undone', advice: 'Open the report: its history shows what was decided since.' },
  flag_not_open: { status: 409, title: 'The flag takes no message now', advice: 'Reviewers ask about open and accepted flags that are not suspected spam; reporters reply to their questions.' },
  flag_not_closed: { status: 409, title: 'The flag cannot be reopened', advice: 'A dismissed or resolved flag can be reopened once. Report the problem again otherwise.' },
} satisfies ProblemKinds;
