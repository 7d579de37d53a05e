import { CircleCheck, CircleX } from 'lucide-react';
import { ApiError } from '../../../lib/api/api-error.ts';
import { ButtonLink } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Money } from '../../../ui/money.tsx';
import { describeSendFailure } from './send-failure.ts';

/** The sent amount and its recipient. */
export function TransferSuccessful({ sent }: { sent: { recipient_id: string; amount: string } }) {
  return (
    <div role="status" className="flex flex-col items-center py-8 text-center">
      <span className="mb-4 flex size-12 items-center justify-center rounded-full bg-good-soft text-good">
        <CircleCheck aria-hidden className="size-6" />
      </span>
      <h2 className="font-semibold text-lg">Transfer Successful</h2>
      <p className="mt-3">
        <Money bgl={sent.amount} className="font-semibold text-2xl tracking-tight" />
      </p>
      <p className="mt-1 max-w-full break-words text-muted">
        to <span className="font-medium text-ink">{sent.recipient_id}</span>
      </p>
    </div>
  );
}

/** The reason and the next steps. */
export function TransferFailed({ error }: { error: unknown }) {
  const { title, reason, isUncertain } = describeSendFailure(error);
  const needsCredit = error instanceof ApiError && error.code === 'insufficient_funds';
  return (
    <div role="alert" className="flex flex-col items-center py-8 text-center">
      <span className="mb-4 flex size-12 items-center justify-center rounded-full bg-bad-soft text-bad">
        <CircleX aria-hidden className="size-6" />
      </span>
      <h2 className="font-semibold text-lg">Transfer Failed</h2>
      <p className="mt-2 max-w-sm text-balance text-muted">{title}</p>
      <Callout tone="warn" className="mt-6 w-full text-left">
        {reason}
        {isUncertain && ' If it did go through, trying again won’t send it twice.'}
      </Callout>
      {needsCredit && (
        <ButtonLink to="/buy-bagels" className="mt-4">
          Get credits
        </ButtonLink>
      )}
    </div>
  );
}
