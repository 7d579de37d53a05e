import type { FoundRows as Found } from '@bakehouse/contract/data-files';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { countOf } from '../../../../lib/format/count-of.ts';
import { EmptyState } from '../../../../ui/empty-state.tsx';
import { QueryView } from '../../../../ui/query-view.tsx';
import { PendingRows } from './pending-rows.tsx';
import { RowSheet } from './row-sheet.tsx';
import { RowTable } from './row-table.tsx';
import { columnsQuery, foundRowsQuery, type RevisionFile } from './viewer-calls.ts';

/** The rows of a file with a text in a cell, and how far was looked for them. */
export function FoundRows({ file, text }: { file: RevisionFile; text: string }) {
  const [row, setRow] = useState<number | null>(null);
  // What was found for other words stays in sight, but is not said to be found for these.
  const found = useQuery({ ...foundRowsQuery({ ...file, text }), placeholderData: keepPreviousData });
  const columns = useQuery(columnsQuery(file));
  return (
    <>
      <QueryView query={found} failed="The rows could not be searched" flush pending={<PendingRows />}>
        {(data) => (
          <>
            {data.at.length === 0 ? (
              !found.isPlaceholderData && <EmptyState title="No rows found" description={howFar(data)} />
            ) : (
              <RowTable
                preview={data}
                numbers={data.at}
                isBusy={found.isPlaceholderData}
                described={columns.isError ? null : columns.data}
                onRow={setRow}
              />
            )}
            <p
              role="status"
              className="border-line border-t px-5 py-2.5 text-[0.8125rem] text-muted tabular-nums empty:hidden"
            >
              {found.isPlaceholderData ? 'Searching…' : data.at.length > 0 && howMany(data)}
            </p>
          </>
        )}
      </QueryView>
      <RowSheet file={file} at={row} total={null} onAt={setRow} />
    </>
  );
}

function howMany(found: Found): string {
  return `${countOf(found.at.length, 'row')} found. ${howFar(found)}`;
}

/** Where a search has ended. */
function howFar({ rows_read: read, is_whole: isWhole }: Found): string {
  if (isWhole) return `All ${countOf(read, 'row')} were searched.`;
  return `Only the first ${countOf(read, 'row')} were searched; there may be more below.`;
}
