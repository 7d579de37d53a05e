import { useInfiniteQuery } from '@tanstack/react-query';
import { currencyChoice, showExact } from '../../lib/currency.ts';
import { formatClock } from '../../lib/format-time.ts';
import { ErrorState } from '../../ui/error-state.tsx';
import { LoadMore, moreOf } from '../../ui/load-more.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { usageWindowQuery } from './api.ts';

/** The single answers of one line of the list, with what each used and cost. */
export function UsageAnswers({ windowId }: { windowId: string }) {
  const currency = currencyChoice.use();
  const list = useInfiniteQuery(usageWindowQuery(windowId));
  if (list.isPending) {
    return (
      <LoadingRegion label="Loading answers" className="px-5 py-3 sm:pl-16">
        <Skeleton className="h-4 w-2/5" />
      </LoadingRegion>
    );
  }
  if (!list.data) {
    return (
      <ErrorState
        title="Error Loading Answers"
        error={list.error}
        retryLabel="Try Again"
        onRetry={() => void list.refetch()}
      />
    );
  }
  const answers = list.data.pages.flatMap((page) => page.answers);
  return (
    <div className="border-line border-b bg-subtle">
      <ul aria-label="Answers" className="px-5 py-2 text-xs leading-6 sm:pl-16">
        {answers.length === 0 && <li className="text-muted">No single answers are kept.</li>}
        {answers.map(({ id, at, amount, quantities }) => (
          <li key={id} className="flex justify-between gap-4 tabular-nums">
            <span className="truncate text-muted">
              {formatClock(new Date(at))} · {describe(quantities)}
            </span>
            <span>{showExact(amount, currency)}</span>
          </li>
        ))}
      </ul>
      <LoadMore {...moreOf(list)} />
    </div>
  );
}

/** 'prompt_tokens: 12, completion_tokens: 40' as people read it: '12 prompt tokens, 40 completion tokens'. */
function describe(quantities: Record<string, number>): string {
  return Object.entries(quantities)
    .map(([name, count]) => `${count.toLocaleString('en-US')} ${name.replaceAll('_', ' ')}`)
    .toSorted()
    .toReversed()
    .join(', ');
}
