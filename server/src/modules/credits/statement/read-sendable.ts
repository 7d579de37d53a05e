import { parseBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { sumSentInDay, type UserTotals } from '../queries.ts';
import { sendableMicro } from './sendable-micro.ts';

/** Returns the amount that the caller can send to others, within the server's limit for 24 hours. */
export async function readSendable({ db, config, caller }: Context, totals: UserTotals): Promise<bigint> {
  const sendable = sendableMicro(totals);
  const dailyMax = parseBgl(config.sendLimitBgl);
  if (dailyMax === 0n) return sendable;
  const left = dailyMax - (await sumSentInDay(db, caller.userId));
  if (left <= 0n) return 0n;
  return left < sendable ? left : sendable;
}
