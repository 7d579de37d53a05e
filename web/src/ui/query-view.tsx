import { type ReactNode, useState } from 'react';
import { cx } from '../lib/cx.ts';
import { useOnline } from '../lib/live/online.ts';
import { Button } from './button.tsx';
import { ErrorState } from './error-state.tsx';
import { isMissing } from './missing.tsx';
import { errorMessage } from './notify.ts';
import { RelativeTime } from './relative-time.tsx';

/** What is needed of a query, with or without pages. */
export type ViewedQuery<Data> = {
  data: Data | undefined;
  error: unknown;
  isError: boolean;
  /** A query with pages: the next one failed, which the pager tells. */
  isFetchNextPageError?: boolean;
  isFetching: boolean;
  /** How often reading it has failed. */
  errorUpdateCount: number;
  dataUpdatedAt: number;
  refetch: () => unknown;
};

type Props<Data> = {
  query: ViewedQuery<Data>;
  /** Says what could not be loaded: 'Your datasets could not be loaded'. */
  failed: string;
  /** Stands there while it is read: a skeleton of the final layout. */
  pending: ReactNode;
  /** In place of the error where there is no such thing, or it is another user's. */
  missing?: ReactNode;
  /** In place of the content where `isEmpty` says so. */
  empty?: ReactNode;
  isEmpty?: (data: Data) => boolean;
  retryLabel?: string;
  /** Less room around the error, in a small card. */
  compact?: boolean;
  /** It reaches to the edges of its card: a table or a list. */
  flush?: boolean;
  children: (data: Data) => ReactNode;
};

/**
 * What was read, in each of its states: loading, missing, failed, empty, there. What was read once stays in
 * sight when reading it again fails, and says how old it is, unless it is no longer there.
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
  // Also where it was read before: it was deleted meanwhile.
  if (missing && query.isError && isMissing(error)) return missing;
  if (data === undefined) {
    // Without data, a query that is read again forgets that it failed: the button would go, and the focus with it.
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
        // What may be missing is what the page is about.
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

/** How old it is, and why it is not younger. While the server is away the shell says that, and reads again by itself. */
function Stale({ query, flush }: { query: ViewedQuery<unknown>; flush: boolean }) {
  const online = useOnline();
  return (
    <div
      role="status"
      className={cx(
        'flex flex-wrap items-center justify-between gap-x-4 gap-y-1.5 bg-warn-soft py-1.5 text-[0.8125rem] text-warn',
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
