import pino from 'pino';

/** A log that writes nothing. Apart from the support of databases, which takes processes longer to load. */
export const quiet = pino({ level: 'silent' });
