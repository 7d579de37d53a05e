import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';

/** Seconds after which a user with too many open generations may try again. */
const RETRY_AFTER_S = 5;

/** Adds Retry-After to the error for too many open generations. */
export async function withRetryAfter<Answer>({ reply }: Http, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError && error.code === 'rate_limited')
      reply.header('retry-after', RETRY_AFTER_S);
    throw error;
  }
}
