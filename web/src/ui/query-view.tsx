import { type ReactNode, useState } from 'react';
import { cx } from '../lib/cx.ts';
import { useOnline } from '../lib/live/online.ts';
import { Button } from './button.tsx';
import { ErrorState } from './error-state.tsx';
import { isMissing } from './missing.tsx';
import { errorMessage } from './notify.ts';
import { RelativeTime } from './relative-time.tsx';

/** The parts of a query that the view needs, with or without pages. */
export type ViewedQuery<Data> = {
  data: Data | undefined;
  error: unknown;
  isError: boolean;
  /** The next page failed, which the pager reports. */
  isFetchNextPageError?: boolean;
  isFetching: boolean;
  /** Number of failed fetches. */
  errorUpdateCount: number;
  dataUpdatedAt: number;
  refetch: () => unknown;
};

type Props<Data> = {
  query: ViewedQuery<Data>;
  /** Error title: 'Your datasets could not be loaded'. */
  failed: string;
  /** Shown while loading: a skeleton of the final layout. */
  pending: ReactNode;
  /** Shown instead of an error if the resource doesn't exist or belongs to another user. */
  missing?: ReactNode;
  /** Shown instead of the content if `isEmpty` returns true. */
  empty?: ReactNode;
  isEmpty?: (data: Data) => boolean;
  retryLabel?: string;
  /** Smaller padding around the error, for small cards. */
  compact?: boolean;
  /** The content extends to the card's edges, like a table or list. */
  flush?: boolean;
  children: (data: Data) => ReactNode;
};

/**
 * Renders a query in all its states: loading, missing, failed, empty and loaded. If a refetch fails, the old
 * data stays visible with its age, unless the resource was deleted.
 */
export function QueryView<Data>({
  query,
  failed,
  pending,
  missing,
  empty,
  isEmpty,
  retryLabel,
  compact,
  flush = false,
  children,
}: Props<Data>) {
  const { data, error } = query;
  const [failure, setFailure] = useState<unknown>();
  if (query.isError && failure !== error) setFailure(error);
  // Even with cached data: the resource was deleted since.
  if (missing && query.isError && isMissing(error)) return missing;
  if (data === undefined) {
    // A query without data resets its error on refetch, which would remove the retry button and its focus.
    const isReadAgain = failure !== undefined && query.isFetching && query.errorUpdateCount > 0;
    if (!query.isError && !isReadAgain) return pending;
    return (
      <ErrorState
        title={failed}
        error={query.isError ? error : failure}
        retrying={query.isFetching}
        onRetry={() => void query.refetch()}
        retryLabel={retryLabel}
        compact={compact}
        // A resource that may be missing is the page's subject.
        wholePage={missing !== undefined}
      />
    );
  }
  const isStale = query.isError && !query.isFetchNextPageError;
  return (
    <>
      {isStale && <Stale query={query} flush={flush} />}
      {isEmpty?.(data) ? empty : children(data)}
    </>
  );
}

/**
 * Shows the age of the data and the fetch error. While the server is unreachable, the shell reports that and
 * refetches.
 */
function Stale({ query, flush }: { query: ViewedQuery<unknown>; flush: boolean }) {
  const online = useOnline();
  return (
    <div
      role="status"
      className={cx(
        'flex flex-wrap items-center justify-between gap-x-4 gap-y-1.5 bg-warn-soft py-1.5 text-compact text-warn',
        flush ? 'px-5 first:rounded-t-xl' : 'mb-3 rounded-lg px-3',
      )}
    >
      <span>
        Last updated <RelativeTime at={new Date(query.dataUpdatedAt)} inSentence />.
        {online && ` Refreshing failed: ${errorMessage(query.error)}`}
      </span>
      {online && (
        <Button size="sm" loading={query.isFetching} onClick={() => void query.refetch()}>
          Try again
        </Button>
      )}
    </div>
  );
}
