import type { UseQueryResult } from '@tanstack/react-query';
import { Button } from '../../ui/button.tsx';
import { Money } from '../../ui/money.tsx';
import { errorMessage } from '../../ui/notify.ts';

type Props = {
  /** What has no answer yet, e.g. '3 chunks'. */
  left: string;
  quote: UseQueryResult<{ highest_bgl: string }>;
  start: { isPending: boolean; mutate: (settings: undefined) => void };
};

/** A button to continue with the chunks that have no answer, and the maximum cost. */
export function ContinueButton({ left, quote, start }: Props) {
  return (
    <div className="flex max-w-48 shrink-0 flex-col items-end gap-1 text-right">
      <Button
        size="sm"
        disabled={!quote.data}
        loading={start.isPending}
        onClick={() => start.mutate(undefined)}
      >
        Continue
      </Button>
      <span className="text-muted text-xs">
        {quote.isError ? (
          errorMessage(quote.error)
        ) : (
          <>
            {left}
            {quote.data && (
              <>
                , at most <Money bgl={quote.data.highest_bgl} />
              </>
            )}
          </>
        )}
      </span>
    </div>
  );
}
