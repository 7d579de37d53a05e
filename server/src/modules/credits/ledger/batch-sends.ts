import { batch } from '../../../platform/concurrency/batch.ts';
import type { Services } from '../../../platform/context.ts';
import { wasRolledBack } from '../../../platform/db/errors/was-rolled-back.ts';
import { oneOf } from './ledger-answers.ts';
import { type Send, type SendAnswer, sendAll } from './ledger-send.ts';

/** Maximum transfers per transaction, which locks the accounts of all of them. */
const MAX = 64;

/** Makes one transfer between users, in its own transaction or in one with others. */
export type SendInBatch = (input: Send) => Promise<SendAnswer>;

/**
 * Returns a function that sends credits in batches: concurrent sends share one ledger call and one commit.
 * The call waits for no account: transfers with locked accounts run alone, and so does every transfer of a
 * rolled-back batch. `dailyMaxMicro` limits what each user may send within 24 hours; null for no limit.
 */
export function batchSends(
  services: Pick<Services, 'db' | 'pool' | 'log'>,
  { dailyMaxMicro = null }: { dailyMaxMicro?: bigint | null } = {},
): SendInBatch {
  const ask = batch<Send, SendAnswer | null>(
    async (inputs) => {
      try {
        return await sendAll(services, inputs, { wait: false, dailyMaxMicro });
      } catch (error) {
        if (inputs.length === 1 || !wasRolledBack(error)) throw error;
        services.log.warn(
          { err: error, transfers: inputs.length },
          'batch of transfers failed; retrying each alone',
        );
        return inputs.map(() => null);
      }
    },
    { max: MAX },
  );
  return async (input) => {
    const answer = await ask(input);
    if (answer !== null && answer.outcome !== 'busy') return answer;
    return oneOf(await sendAll(services, [input], { wait: true, dailyMaxMicro }));
  };
}
