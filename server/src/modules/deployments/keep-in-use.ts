import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { extendHold } from '../credits/ledger.ts';
import type { Upstream } from './gateway-queries.ts';
import { noteRequest, noteStarterRequest } from './queries.ts';

/** A request's hold lets go by itself when nothing was heard of the request for this long. */
export const HOLD_MS = 30 * 60_000;
/** Both count in minutes: this often is enough, and keeps requests from queueing for one row. */
const REPEAT_MS = 30_000;

/**
 * Keeps the idle guard from the model, and the hold of the request alive, from now until the returned
 * function is called.
 */
export async function keepInUse(ctx: Context, upstream: Upstream, holdId: string): Promise<() => void> {
  const since = upstream.last_request_at
    ? ctx.clock.now().getTime() - upstream.last_request_at.getTime()
    : Infinity;
  if (since >= REPEAT_MS) await note(ctx, upstream);
  const timer = setInterval(() => {
    prolong(ctx, holdId)
      .then(() => note(ctx, upstream))
      .catch((error: unknown) => ctx.log.warn({ err: error }, 'a request could not be kept alive'));
  }, REPEAT_MS);
  return () => clearInterval(timer);
}

function prolong({ db, clock }: Context, holdId: string): Promise<void> {
  const expiresAt = new Date(clock.now().getTime() + HOLD_MS);
  return inTransaction(db, (tx) => extendHold(tx, { holdId, expiresAt }));
}

async function note({ db, clock }: Context, upstream: Upstream): Promise<void> {
  if (upstream.pod_id) await noteRequest(db, upstream.pod_id, clock.now());
  else await noteStarterRequest(db, upstream.server_id, clock.now());
}
