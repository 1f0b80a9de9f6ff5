/** How many times slower this machine is than a usual one, as `npm test` measured; 1 otherwise. Multiply waits and limits of tests by it. */
export const slowness = Number(process.env.CIVIC_TEST_SLOWNESS) || 1;
