import { useQuery } from '@tanstack/react-query';
import { countOf } from '../../../lib/format/count-of.ts';
import { Button } from '../../../ui/button.tsx';
import { Money } from '../../../ui/money.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { quoteQuery, useStartDraft } from '../draft-calls.ts';

/** Asks about the chunks that have no answer, as before, with what that costs at most. */
export function GoOn({ draftId, chunks }: { draftId: string; chunks: number }) {
  const quote = useQuery(quoteQuery(draftId, undefined));
  const start = useStartDraft(draftId);
  return (
    <div className="flex max-w-48 shrink-0 flex-col items-end gap-1 text-right">
      <Button
        size="sm"
        disabled={!quote.data}
        loading={start.isPending}
        onClick={() => start.mutate(undefined)}
      >
        Go on
      </Button>
      <span className="text-muted text-xs">
        {quote.isError ? (
          errorMessage(quote.error)
        ) : (
          <>
            {countOf(chunks, 'chunk')}
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
