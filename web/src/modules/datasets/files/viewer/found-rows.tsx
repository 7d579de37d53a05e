import type { FoundRows as Found, RowFilter } from '@bakehouse/contract/data-files';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { countOf } from '../../../../lib/format/count-of.ts';
import { Button } from '../../../../ui/button.tsx';
import { EmptyState } from '../../../../ui/empty-state.tsx';
import { errorMessage } from '../../../../ui/notify.ts';
import { QueryView } from '../../../../ui/query-view.tsx';
import type { RowEdits } from './editing/use-row-edits.ts';
import { mergeFoundRows } from './merge-found-rows.ts';
import { PendingRows } from './pending-rows.tsx';
import { RowSheet } from './row-sheet.tsx';
import { RowTable } from './row-table.tsx';
import { columnsQuery, foundRowsQuery, type RevisionFile, type RowSearch } from './viewer-calls.ts';

type Props = {
  file: RevisionFile;
  wanted: RowSearch;
  edits: RowEdits;
  onFilter: (filter: RowFilter) => void;
};

/** Matching rows, how far the search went, and a button to continue. */
export function FoundRows({ file, wanted, edits, onFilter }: Props) {
  const [row, setRow] = useState<number | null>(null);
  // Keep the previous results visible as a busy table while a new search loads.
  const found = useInfiniteQuery({
    ...foundRowsQuery({ ...file, ...wanted }),
    placeholderData: keepPreviousData,
    select: ({ pages }) => {
      const [first, ...further] = pages;
      return first && mergeFoundRows([first, ...further]);
    },
  });
  const columns = useQuery(columnsQuery(file));
  const isOfOthers = found.isPlaceholderData;
  return (
    <>
      <QueryView query={found} failed="The rows could not be searched" flush pending={<PendingRows />}>
        {(data) =>
          data && (
            <>
              {data.at.length === 0 ? (
                !isOfOthers && <EmptyState title="No rows found" description={howFar(data)} />
              ) : (
                <RowTable
                  preview={data}
                  numbers={data.at}
                  isBusy={isOfOthers}
                  described={columns.isError ? null : columns.data}
                  onRow={setRow}
                  onFilter={onFilter}
                  changes={edits.changes}
                />
              )}
              <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-line border-t px-5 py-2.5 text-compact text-muted has-[>p:empty:only-child]:hidden">
                <p role="status" className="tabular-nums">
                  {isOfOthers || found.isFetchingNextPage
                    ? 'Searching…'
                    : data.at.length > 0 && `${countOf(data.at.length, 'row')} found. ${howFar(data)}`}
                </p>
                {!isOfOthers && found.hasNextPage && <Further found={found} />}
              </div>
            </>
          )
        }
      </QueryView>
      <RowSheet file={file} at={row} total={null} onAt={setRow} editor={edits.editor} />
    </>
  );
}

type FurtherProps = {
  found: {
    isFetchingNextPage: boolean;
    isFetchNextPageError: boolean;
    error: Error | null;
    fetchNextPage: (options: { cancelRefetch: false }) => unknown;
  };
};

function Further({ found }: FurtherProps) {
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      {found.isFetchNextPageError && (
        <span role="alert" className="text-bad">
          The rest could not be searched: {errorMessage(found.error)}
        </span>
      )}
      <Button
        size="sm"
        loading={found.isFetchingNextPage}
        onClick={() => void found.fetchNextPage({ cancelRefetch: false })}
      >
        Keep searching
      </Button>
    </span>
  );
}

/** Returns how far the search went. */
function howFar({ rows_read: read, is_whole: isWhole }: Found): string {
  return isWhole
    ? `All ${countOf(read, 'row')} were searched.`
    : `The first ${countOf(read, 'row')} were searched so far.`;
}
