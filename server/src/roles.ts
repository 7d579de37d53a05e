/**
 * Roles of a process: `web` serves HTTP, `worker` runs finite jobs and schedules, `reconciler` moves
 * workloads to their desired state. One process can have all roles.
 */
export const allRoles = ['web', 'worker', 'reconciler'] as const;
export type Role = (typeof allRoles)[number];
