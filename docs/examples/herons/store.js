// @ts-check
import { newId } from 'civic';

/**
 * @typedef {import('civic').Reader} Reader
 * @typedef {import('civic').Tx} Tx
 * @typedef {{ id: string, site: string, birds: number, source_url: string, counted_at: string }} HeronCount
 * @typedef {{ site: string, birds: number }} SiteTotal
 */

const COLUMNS = ['id', 'site', 'birds', 'source_url', 'counted_at'];

/** @param {Reader} reader @param {number} limit @returns {Promise<HeronCount[]>} */
export async function countsOf(reader, limit = 50) {
  return await reader('herons_counts').select(COLUMNS).orderBy('key', 'desc').limit(limit);
}

/** @param {Reader} reader @param {string} since @returns {Promise<boolean>} */
export async function hasCountSince(reader, since) {
  return (await reader('herons_counts').where('counted_at', '>', since).first('key')) !== undefined;
}

/** @param {Reader} reader @param {string} site @returns {Promise<HeronCount[]>} */
export async function countsAt(reader, site) {
  return await reader('herons_counts').select(COLUMNS).where({ site }).orderBy('key', 'desc').limit(50);
}

/**
 * Adds one to the reports of an account on a day and returns how many there are. The changed row stays locked until the
 * transaction ends, so that requests at the same time cannot exceed a limit together.
 * @param {Tx} tx @param {string} accountId @param {string} day
 */
export async function addReport(tx, accountId, day) {
  const [row] = await tx('herons_days').insert({ account_id: accountId, day, reports: 1 })
    .onConflict(['account_id', 'day']).merge({ reports: tx.raw('herons_days.reports + 1') }).returning('reports');
  return Number(row.reports);
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
  await tx('herons_sites').insert({ site, birds }).onConflict('site').merge({ birds: tx.raw('herons_sites.birds + excluded.birds') });
}

/** @param {Reader} reader @returns {Promise<SiteTotal[]>} */
export async function siteTotals(reader) {
  return await reader('herons_sites').select('site', 'birds').orderBy('site');
}

/** @param {Tx} tx @param {string} before */
export async function pruneCounts(tx, before) {
  await tx('herons_counts').where('counted_at', '<', before).delete();
  await tx('herons_days').where('day', '<', before.slice(0, 10)).delete();
}
