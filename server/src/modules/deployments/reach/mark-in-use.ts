import type { Context } from '../../../platform/context.ts';
import { recordRequest } from '../queries.ts';
import { recordStarterRequest } from '../servers/server-queries.ts';
import type { Upstream } from './upstream.ts';

type UsedModel = Pick<Upstream, 'pod_id' | 'server_id' | 'last_request_at'>;

/**
 * How often use is recorded. Idle times are counted in minutes, so this is enough, and fewer writes mean
 * fewer waits for the row.
 */
const REPEAT_MS = 30_000;

/** When the use of each model was last recorded. */
const notedAt = new WeakMap<UsedModel, Date>();

/**
 * Keeps the model from falling asleep until the returned function is called. Records in the background, so
 * the request does not wait.
 */
export function markInUse(ctx: Context, upstream: UsedModel): () => void {
  const record = () => {
    notedAt.set(upstream, ctx.clock.now());
    recordUse(ctx, upstream).catch((error: unknown) =>
      ctx.log.warn({ err: error }, 'failed to record model use'),
    );
  };
  const lastUse = notedAt.get(upstream) ?? upstream.last_request_at;
  const since = lastUse ? ctx.clock.now().getTime() - lastUse.getTime() : Infinity;
  if (since >= REPEAT_MS) record();
  const timer = setInterval(record, REPEAT_MS);
  return () => clearInterval(timer);
}

async function recordUse({ db, clock }: Context, upstream: UsedModel): Promise<void> {
  if (upstream.pod_id) await recordRequest(db, upstream.pod_id, clock.now());
  else await recordStarterRequest(db, upstream.server_id, clock.now());
}
