/** Where the pages of this plugin are. */
export const JOBS = '/console/jobs';
export const BACKUPS = '/console/backups';
