/** How many times slower this machine is than a usual one, measured by `npm test`; 1 otherwise. Multiply time limits of tests by it. */
export const slowness = Number(process.env.CIVIC_TEST_SLOWNESS) || 1;
