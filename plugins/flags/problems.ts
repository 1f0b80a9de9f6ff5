import type { ProblemKinds } from 'civic';

export const flagProblems = {
  unknown_flag: { status: 404, title: 'No such flag', advice: 'Use the full id, as GET /api/flags returns it.' },
  unknown_receipt: { status: 404, title: 'No such receipt', advice: 'Enter the receipt as it was shown after the report. Spaces, hyphens and capitals do not matter.' },
  flag_transition: { status: 409, title: 'The flag cannot get this status', advice: 'An open flag is accepted or dismissed; an accepted flag is resolved.' },
  undo_conflict: { status: 409, title: 'The decision cannot be undone', advice: 'Open the report: its history shows what was decided since.' },
} satisfies ProblemKinds;
