import { ReceiptText } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { useUser } from '../../accounts/session.ts';
import { NO_STARTING_CREDITS } from '../credit-queries.ts';

/** Error title of every transaction view. */
export const LOADING_FAILED = 'Error Loading Transactions';

type Props = {
  /** True if a period or a key is selected. */
  filtered: boolean;
  /** A link that clears the filter. */
  showAll: ReactNode;
};

/** Shown if there are no transactions. */
export function NoTransactions({ filtered, showAll }: Props) {
  const user = useUser();
  const none = 'Credits you receive and spend appear here.';
  return (
    <EmptyState
      icon={<ReceiptText aria-hidden />}
      title="No transactions found"
      description={
        filtered
          ? 'No transactions match your filters.'
          : `${none}${user.is_returning ? ` ${NO_STARTING_CREDITS}` : ''}`
      }
      action={filtered && showAll}
    />
  );
}

/** Placeholder while transactions load. */
export function LoadingTransactions() {
  return (
    <LoadingRegion label="Loading transactions" className="divide-y divide-line">
      {Array.from({ length: 8 }, (_, index) => (
        <div key={index} className="flex items-center justify-between gap-6 px-5 py-3.5">
          <div className="flex-1">
            <Skeleton className="h-4 w-2/5" />
            <Skeleton className="mt-2 h-3 w-24" />
          </div>
          <Skeleton className="h-4 w-20" />
        </div>
      ))}
    </LoadingRegion>
  );
}
