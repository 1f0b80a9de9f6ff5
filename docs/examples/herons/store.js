// @ts-check
import { newId } from 'civic';

/**
 * @typedef {import('civic').Reader} Reader
 * @typedef {import('civic').Tx} Tx
 * @typedef {{ id: string, site: string, birds: number, source_url: string, counted_at: string }} HeronCount
 * @typedef {{ site: string, birds: number }} SiteTotal
 */

const COLUMNS = ['id', 'site', 'birds', 'source_url', 'counted_at'];

/** @param {Reader} reader @returns {Promise<HeronCount[]>} */
export async function countsOf(reader) {
  return await reader('herons_counts').select(COLUMNS).orderBy('key', 'desc').limit(50);
}

/** Returns how many counts an account reported since a time. @param {Tx} tx @param {string} accountId @param {string} since */
export async function countsSince(tx, accountId, since) {
  const row = await tx('herons_counts').where({ account_id: accountId }).where('counted_at', '>=', since).count({ count: '*' }).first();
  return Number(row?.count);
}

/** @param {Tx} tx @param {Omit<HeronCount, 'id'> & { account_id: string }} count @returns {Promise<HeronCount>} */
export async function insertCount(tx, count) {
  const { account_id, ...shown } = count;
  const row = { id: newId(), ...shown };
  await tx('herons_counts').insert({ ...row, account_id });
  return row;
}

/** @param {Tx} tx @param {string} site @param {number} birds */
export async function addToSite(tx, site, birds) {
  const changed = await tx('herons_sites').where({ site }).increment('birds', birds);
  if (changed === 0) await tx('herons_sites').insert({ site, birds });
}

/** @param {Reader} reader @returns {Promise<SiteTotal[]>} */
export async function siteTotals(reader) {
  return await reader('herons_sites').select('site', 'birds').orderBy('site');
}

/** @param {Tx} tx @param {string} before */
export async function pruneCounts(tx, before) {
  await tx('herons_counts').where('counted_at', '<', before).delete();
}
