import type { ProblemKinds } from 'civic';

export const ratelimitProblems = {
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    advice: 'Wait as many seconds as `Retry-After` says. The detail names the limit, and what gives a higher one.',
    anywhere: true,
  },
} satisfies ProblemKinds;
