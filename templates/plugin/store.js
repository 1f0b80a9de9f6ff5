// @ts-check
import { newId } from 'civic';

/** @typedef {{ id: string, text: string, created_at: string }} Greeting */

/**
 * @param {import('civic').Tx} tx
 * @param {string} text
 * @param {string} createdAt
 * @returns {Promise<Greeting>}
 */
export async function addGreeting(tx, text, createdAt) {
  const greeting = { id: newId(), text, created_at: createdAt };
  await tx('hello_greetings').insert(greeting);
  return greeting;
}

/**
 * @param {import('civic').Reader} read
 * @param {number} limit
 * @returns {Promise<Greeting[]>}
 */
export function latestGreetings(read, limit) {
  return read('hello_greetings').select('id', 'text', 'created_at').orderBy('key', 'desc').limit(limit);
}
