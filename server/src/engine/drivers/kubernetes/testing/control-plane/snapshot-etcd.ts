import { cp, rm } from 'node:fs/promises';
import path from 'node:path';
import type { ControlPlane, ProgramName } from './start.ts';

const PROGRAMS: ProgramName[] = ['etcd', 'apiserver', 'controllers', 'scheduler'];

/**
 * Snapshots etcd. The returned function restores the snapshot as an administrator would: it stops all
 * programs and starts them with the restored data. `meanwhile` runs while the API server is down.
 * @param dir Folder of the control plane.
 */
export async function snapshotEtcd(
  plane: ControlPlane,
  dir: string,
): Promise<(meanwhile: () => Promise<void>) => Promise<void>> {
  const [data, kept] = [path.join(dir, 'etcd'), path.join(dir, 'etcd-before')];
  await plane.stop('etcd');
  await cp(data, kept, { recursive: true });
  await plane.resume('etcd');
  return async (meanwhile) => {
    for (const name of PROGRAMS.toReversed()) await plane.stop(name);
    await meanwhile();
    await rm(data, { recursive: true });
    await cp(kept, data, { recursive: true });
    for (const name of PROGRAMS) await plane.resume(name);
  };
}
