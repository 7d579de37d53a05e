import { ApiError } from '../../../lib/api/api-error.ts';
import { isUnanswered } from '../../../lib/api/idempotency-key.ts';
import { errorMessage } from '../../../ui/notify.ts';

/** Completes 'Failed to …' if the server's response has no error message. */
export const SEND_OPERATION = 'send Bagels. Please check the recipient username.';

export type SendFailure = {
  /** The sentence below the heading 'Transfer Failed'. */
  title: string;
  /** The server's reason, or a general one. */
  reason: string;
  /** There was no response: the transfer may have completed. A retry does not send it twice. */
  isUncertain: boolean;
};

/** Returns the message for a failed transfer. */
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
