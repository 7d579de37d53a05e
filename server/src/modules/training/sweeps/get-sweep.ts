import type { InputOf } from '@bakehouse/contract/endpoint';
import type { getSweep as endpoint, Sweep } from '@bakehouse/contract/sweeps';
import type { Context } from '../../../platform/context.ts';
import { readSnapshot } from '../../../platform/db/read-snapshot.ts';
import { readSweep } from './read-sweep.ts';

/** One sweep of the caller. */
export async function getSweep(ctx: Context, { params }: InputOf<typeof endpoint>): Promise<Sweep> {
  return readSnapshot(ctx.db, (tx) => readSweep(tx, ctx, params.sweepId));
}
