import type { getUsageWindow as contract } from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findWindow, listEvents } from './usage-queries.ts';

/** Returns one of the caller's usage windows with its answers, newest first. Throws AppError 'not_found'. */
export async function getUsageWindow(
  ctx: Context,
  { params: { windowId }, query: { limit, cursor } }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const window = await findWindow(ctx.db, { windowId, userId: ctx.caller.userId });
  if (!window) throw new AppError('not_found', { publicMessage: 'Usage window not found' });
  const before = cursor === undefined ? null : BigInt(cursor);
  const events = await listEvents(ctx.db, { window, before, limit: limit + 1 });
  const page = events.slice(0, limit);
  return {
    id: window.id,
    source: window.source,
    key_id: window.key_id,
    opened_at: window.opened_at.toISOString(),
    closed_at: window.closed_at?.toISOString() ?? null,
    answers_total: Number(window.events),
    used: formatBgl(window.used_micro),
    answers: page.map(({ id, at, amount_micro, quantities }) => ({
      id,
      at: at.toISOString(),
      amount: formatBgl(amount_micro),
      quantities: quantities as Record<string, number>,
    })),
    next_cursor: events.length > limit ? (page.at(-1)?.n.toString() ?? null) : null,
  };
}
