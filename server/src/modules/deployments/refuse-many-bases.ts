import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { listStarterModels } from '../assets/starter-models.ts';
import { countBasesAwake, findTextServer } from './queries.ts';

/** Half of the serving slots of a machine without GPUs: the starter model and others need the rest. */
const BASES_MAX = 2;

/**
 * Step: a user may keep so many base models of their own awake on the CPU. Adapters on a base that
 * is up, and starter models, do not count. Throws AppError 'conflict'.
 */
export async function refuseManyBases(
  tx: Transaction,
  { userId, serverId, baseAssetId }: { userId: string; serverId: string; baseAssetId: string },
): Promise<void> {
  const { accelerator } = await findTextServer(tx, serverId);
  const starterIds = (await listStarterModels(tx)).map((starter) => starter.assetId);
  if (accelerator !== null || starterIds.includes(baseAssetId)) return;
  if ((await countBasesAwake(tx, { userId, serverId, starterIds })) < BASES_MAX) return;
  throw new AppError('conflict', {
    publicMessage:
      `You keep ${BASES_MAX} base models awake, as many as one user may on this machine. ` +
      'Terminate a deployment on one of them, or wait until it sleeps',
  });
}
