/**
 * What a process does. `web` serves HTTP, `worker` runs finite jobs and schedules, and `reconciler` moves
 * workloads to their desired state. A process can have all roles.
 */
export const allRoles = ['web', 'worker', 'reconciler'] as const;
export type Role = (typeof allRoles)[number];
