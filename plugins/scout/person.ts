import { Failure, problemOf } from 'civic';
import type { Researcher } from 'civic/discovery';

/** The person whose machine this is: runs and actors belong to one workspace, without accounts. */
export const PERSON: Researcher = {
  account_id: '0190a000-0000-7000-8000-000000000001',
  workspace_id: '0190a000-0000-7000-8000-000000000002',
  via: 'session', scope: [], role: 'user', plan: 'local', capabilities: [], workspace_role: 'owner',
};

/** Runs work whose problems are for the person at the terminal. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const data = problemOf(error);
    if (!data) throw error;
    const details = data.errors?.map((one) => `${('pointer' in one ? one.pointer : one.parameter)?.replace(/^\//, '').replace(/\/\d+$/, '')}: ${one.detail}`) ?? [];
    throw new Failure(details.length > 0 ? details.join('\n') : data.detail ?? data.code, { cause: error });
  }
}
