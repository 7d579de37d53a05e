/**
 * What a process does: `web` answers HTTP, `worker` runs the finite jobs and schedules,
 * `reconciler` keeps workloads in their wanted state. One process may do all.
 */
export const allRoles = ['web', 'worker', 'reconciler'] as const;
export type Role = (typeof allRoles)[number];
