import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { AssetRow } from '../../assets/queries.ts';
import { takeLookUp } from '../../assets/sources/sources.ts';
import { hubClient } from '../public/hub-client.ts';
import { findHubAccess } from '../public/tokens.ts';
import { startMirroring } from './start-mirroring.ts';

/** So old what everybody has may be before the public hub is asked whether there is a newer commit. */
const AGE_MS = 60 * 60 * 1000;
const ASK_MS = 30_000;

/**
 * Has a newer commit of everybody's copy fetched, where the last look is an hour old. Nobody waits for it: the one that is here is
 * answered until the newer one is here as a whole, and for good where the public hub does not answer.
 */
export function lookForNewer(ctx: Context, asset: AssetRow): void {
  if (!ctx.config.hubMirror) return;
  look(ctx, asset).catch((error: unknown) => {
    const level = error instanceof AppError ? 'debug' : 'warn';
    ctx.log[level]({ err: error, asset_id: asset.id }, 'the public hub was not asked for a newer commit');
  });
}

async function look(ctx: Context, asset: AssetRow): Promise<void> {
  const now = ctx.clock.now();
  const source = await takeLookUp(ctx.db, asset.id, { now, before: new Date(now.getTime() - AGE_MS) });
  if (!source) return;
  const type = asset.dataset_type === 'MODEL' ? 'model' : 'dataset';
  const hub = hubClient(await findHubAccess(ctx, null), AbortSignal.timeout(ASK_MS));
  const info = await hub.describe({ type, id: source.repoId });
  // Closed by now, or moved: what everybody has stays.
  const isSame = info.repo_id === source.repoId && !info.gated && !info.isPrivate;
  if (isSame && info.revision !== source.commitId)
    await startMirroring(ctx, { repo: { type, id: source.repoId }, commitId: info.revision });
}
