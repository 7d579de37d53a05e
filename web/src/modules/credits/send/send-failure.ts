import { ApiError } from '../../../lib/api/api-error.ts';
import { isUnanswered } from '../../../lib/api/idempotency-key.ts';
import { errorMessage } from '../../../ui/notify.ts';

/**
 * Completes 'Failed to …' where the server refused without a word: the sentence of the specification for an answer
 * without a usable body.
 */
export const SEND_OPERATION = 'send Bagels. Please check the recipient username.';

export type SendFailure = {
  /** The sentence under 'Transfer Failed'. */
  title: string;
  /** The reason: the server's, else a general one. */
  reason: string;
  /** No answer came: it may have been sent all the same, and trying again does not send it twice. */
  isUncertain: boolean;
};

/** The message for a failed transfer. */
export function describeSendFailure(error: unknown): SendFailure {
  const answered = error instanceof ApiError && error.status > 0;
  const aboutRecipient = answered && (error.status === 404 || error.param === 'recipient_id');
  return {
    title: aboutRecipient
      ? 'Failed to transfer Bagels. Please check the recipient username and try again.'
      : 'There was an error processing your transfer. Please try again.',
    reason: answered ? errorMessage(error) : 'Failed to send Bagels. Please try again.',
    isUncertain: isUnanswered(error),
  };
}
