import { useInfiniteQuery } from '@tanstack/react-query';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { formatClock } from '../../../../lib/format/format-time.ts';
import { Money } from '../../../../ui/money.tsx';
import { Pager } from '../../../../ui/pager.tsx';
import { QueryView } from '../../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../../ui/skeleton.tsx';
import { usageWindowQuery } from '../../credit-queries.ts';

/** The individual answers of one line with their usage and cost. */
export function UsageAnswers({ windowId }: { windowId: string }) {
  const list = useInfiniteQuery(usageWindowQuery(windowId));
  const answers = list.data?.pages.flatMap((page) => page.answers);
  return (
    <div className="border-line border-b bg-subtle px-5 py-2 sm:pl-16">
      <QueryView
        query={{ ...list, data: answers }}
        failed="The answers could not be loaded"
        pending={
          <LoadingRegion label="Loading answers">
            <Skeleton className="h-4 w-2/5" />
          </LoadingRegion>
        }
        isEmpty={(rows) => rows.length === 0}
        empty={<p className="text-muted text-xs leading-6">No itemized answers are available.</p>}
        compact
      >
        {(rows) => (
          <ul aria-label="Answers" className="text-xs leading-6">
            {rows.map(({ id, at, amount, quantities }) => (
              <li key={id} className="flex justify-between gap-4 tabular-nums">
                <span className="truncate text-muted">
                  {formatClock(new Date(at))} · {describeQuantities(quantities)}
                </span>
                <Money bgl={amount} />
              </li>
            ))}
          </ul>
        )}
      </QueryView>
      <Pager pages={list} />
    </div>
  );
}

/** Formats `{ prompt_tokens: 12, completion_tokens: 40 }` as '12 prompt tokens, 40 completion tokens'. */
export function describeQuantities(quantities: Record<string, number>): string {
  return Object.entries(quantities)
    .toSorted(([a], [b]) => b.localeCompare(a))
    .map(([name, count]) => {
      const words = name.replaceAll('_', ' ');
      return `${formatNumber(count)} ${count === 1 ? words.replace(/s$/, '') : words}`;
    })
    .join(', ');
}
