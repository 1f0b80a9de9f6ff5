/** The paths of the pages of this plugin. */
export const JOBS = '/console/jobs';
export const BACKUPS = '/console/backups';
