import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { listStarterModels } from '../assets/starter-models.ts';
import { countBasesAwake, findTextServer } from './queries.ts';
import { CPU_SERVERS } from './text-server-spec.ts';

/** On the CPU, of one user and of all: others need the rest, and the starter model the last one. */
const BASES_MAX = { user: CPU_SERVERS / 2, all: CPU_SERVERS - 1 };

/**
 * Step: one user, and all together, may keep so many base models awake on the CPU. Adapters on a base
 * that is up, and starter models, do not count. Throws AppError 'conflict'.
 */
export async function refuseManyBases(
  tx: Transaction,
  { userId, serverId, baseAssetId }: { userId: string; serverId: string; baseAssetId: string },
): Promise<void> {
  const { accelerator } = await findTextServer(tx, serverId);
  const starterIds = (await listStarterModels(tx)).map((starter) => starter.assetId);
  if (accelerator !== null || starterIds.includes(baseAssetId)) return;
  const awake = await countBasesAwake(tx, { userId, serverId, starterIds });
  if (awake.own >= BASES_MAX.user) {
    throw new AppError('conflict', {
      publicMessage:
        `You keep ${BASES_MAX.user} base models awake, as many as one user may on this machine. ` +
        'Terminate a deployment on one of them, or wait until it sleeps',
    });
  }
  if (awake.all >= BASES_MAX.all) {
    throw new AppError('conflict', {
      publicMessage:
        `${BASES_MAX.all} base models are awake, as many as this machine serves beside the starter model. ` +
        'Deploy a model on one of them or on the starter model, or wait until one sleeps',
    });
  }
}
