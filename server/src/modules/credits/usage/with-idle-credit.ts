import type { Binding } from '../../../platform/http/bind.ts';
import { isOutOfCredit } from '../ledger/holds/is-out-of-credit.ts';
import type { UsageLeader } from './usage-leader.ts';

/**
 * The endpoints that hold or send credits: where the caller's credit or the budget of the key does not cover a
 * call, this process closes the caller's idle usage windows, and if there were any, makes the call once more. A
 * refusal has left nothing.
 */
export function withIdleCredit(usage: Pick<UsageLeader, 'closeIdle'>, bindings: Binding[]): Binding[] {
  return bindings.map((binding) => ({
    ...binding,
    handle: async (ctx, input, http) => {
      try {
        return await binding.handle(ctx, input, http);
      } catch (error) {
        if (!isOutOfCredit(error) || ctx.caller.kind !== 'user' || http.reply.sent) throw error;
        if ((await usage.closeIdle(ctx.caller.userId)) === 0) throw error;
        return binding.handle(ctx, input, http);
      }
    },
  }));
}
