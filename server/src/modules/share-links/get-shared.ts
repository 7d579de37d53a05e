import type { SharedKind, SharedThing } from '@bakehouse/contract/share-links';
import type { Caller, Context } from '../../platform/context.ts';
import { readShared, type Shared } from './find-shared.ts';
import { describeGeneration } from './shared-generation.ts';
import { describeModel } from './shared-model.ts';
import { describeRun } from './shared-run.ts';

const describe: Record<SharedKind, (shared: Shared) => Promise<SharedThing>> = {
  generation: describeGeneration,
  run: describeRun,
  model: describeModel,
};

/** What the page behind a link shows. Throws what `readShared` throws. */
export async function getShared(ctx: Context<Caller>, { token }: { token: string }): Promise<SharedThing> {
  return readShared(ctx, token, (shared) => describe[shared.kind](shared));
}
