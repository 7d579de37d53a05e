import type { Asset, filePreview } from '@bakehouse/contract/assets';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type * as z from 'zod';
import { cx } from '../../../lib/cx.ts';
import { countOf } from '../../../lib/format/count-of.ts';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Card } from '../../../ui/card.tsx';
import { Conversation } from '../../../ui/conversation.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { Select } from '../../../ui/select.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { PREVIEW_ROWS, previewQuery } from '../api.ts';
import { isDataFile, selectedDataFile } from './data-file.ts';

type Props = { asset: Asset; path: string | undefined; onPath: (path: string) => void };

type Preview = z.output<typeof filePreview>;

const BROKEN_SHOWN = 5;

/** A first look at the rows of a data file, a hundred at a time. */
export function RowsPreview({ asset, path, onPath }: Props) {
  const files = asset.files.filter((file) => isDataFile(file.path));
  const shown = selectedDataFile(asset, path);
  if (!shown || !asset.revision_id) {
    return (
      <Card>
        <EmptyState
          title="No rows to show"
          description="Rows are shown for csv, jsonl, json, txt and parquet files."
        />
      </Card>
    );
  }
  return (
    <Card
      flush
      title={
        files.length > 1 ? (
          <Select
            aria-label="File"
            size="sm"
            className="min-w-56"
            value={shown.path}
            onChange={onPath}
            options={files.map((file) => ({ value: file.path, label: file.path }))}
          />
        ) : (
          shown.path
        )
      }
    >
      <Rows
        // Another file starts at its first row.
        key={`${asset.revision_id}/${shown.path}`}
        assetId={asset.dataset_id}
        revisionId={asset.revision_id}
        path={shown.path}
      />
    </Card>
  );
}

function Rows(file: { assetId: string; revisionId: string; path: string }) {
  const [offset, setOffset] = useState(0);
  const preview = useQuery({ ...previewQuery({ ...file, offset }), placeholderData: keepPreviousData });

  return (
    <QueryView
      query={preview}
      failed="This file cannot be shown"
      flush
      pending={
        <LoadingRegion className="flex flex-col gap-3 px-5 pb-5">
          {[0, 1, 2, 3, 4, 5].map((index) => (
            <Skeleton key={index} className="h-4 w-full" />
          ))}
        </LoadingRegion>
      }
    >
      {(data) => <Page preview={data} offset={offset} onOffset={setOffset} />}
    </QueryView>
  );
}

type PageProps = { preview: Preview; offset: number; onOffset: (offset: number) => void };

function Page({ preview, offset, onOffset }: PageProps) {
  return (
    <>
      <BrokenRows preview={preview} />
      {preview.total_rows === 0 ? (
        <EmptyState {...noRowsText(preview.columns, preview.broken_count)} />
      ) : (
        <>
          <RowsTable preview={preview} offset={offset} />
          <RowsPager preview={preview} offset={offset} onOffset={onOffset} />
        </>
      )}
    </>
  );
}

function BrokenRows({ preview: { broken, broken_count: count } }: { preview: Preview }) {
  if (count === 0) return null;
  return (
    <Callout tone="warn" className="mx-5 mb-3" title={`${countOf(count, 'row')} could not be read`}>
      <ul>
        {broken.slice(0, BROKEN_SHOWN).map(({ line, reason }) => (
          <li key={line}>
            Line {line}: {reason}
          </li>
        ))}
        {count > BROKEN_SHOWN && <li>and {(count - BROKEN_SHOWN).toLocaleString('en')} more</li>}
      </ul>
    </Callout>
  );
}

function RowsTable({ preview, offset }: Omit<PageProps, 'onOffset'>) {
  const { columns, rows, format, conversations } = preview;
  const dialogueAt = conversations.length > 0 && format ? columns.indexOf(format.input_column) : -1;
  return (
    <div tabIndex={0} role="region" aria-label="Rows" className="max-h-[60dvh] overflow-auto">
      <table className="w-full border-collapse text-left text-[0.8125rem]">
        <thead className="sticky top-0 bg-surface">
          <tr className="shadow-[inset_0_-1px_0_var(--line)]">
            <th scope="col" className="h-9 w-14 px-3 pl-5 text-right font-medium text-muted text-xs">
              Row
            </th>
            {columns.map((column, at) => (
              <th
                // Names that are cut may be equal.
                key={at}
                scope="col"
                dir="auto"
                className="h-9 whitespace-nowrap px-3 text-start font-medium text-muted text-xs"
              >
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, index) => (
            <tr key={offset + index} className="border-line border-t align-top">
              <td className="px-3 py-2 pl-5 text-right text-faint tabular-nums">{offset + index + 1}</td>
              {cells.map((value, column) => (
                <td
                  key={column}
                  dir="auto"
                  className={cx(
                    'max-w-xl whitespace-pre-wrap px-3 py-2 text-start [overflow-wrap:anywhere]',
                    column === dialogueAt ? 'min-w-72' : 'min-w-40',
                  )}
                >
                  <Cell
                    value={value}
                    conversation={column === dialogueAt ? conversations[index] : undefined}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RowsPager({ preview, offset, onOffset }: PageProps) {
  const { columns, column_count: columnCount, rows, total_rows: total } = preview;
  const last = offset + rows.length;
  return (
    <footer className="flex items-center justify-between gap-3 border-line border-t px-5 py-2.5 text-[0.8125rem] text-muted">
      <span className="tabular-nums">
        {rows.length === 0 ? 'No rows' : `Rows ${offset + 1} to ${last}`}
        {total !== null && ` of ${total.toLocaleString('en')}`}
        {columnCount > columns.length && `, the first ${columns.length} of ${countOf(columnCount, 'column')}`}
      </span>
      <span className="flex gap-1">
        <Button
          size="icon-sm"
          variant="ghost"
          aria-label="Earlier rows"
          disabled={offset === 0}
          onClick={() => onOffset(Math.max(0, offset - PREVIEW_ROWS))}
        >
          <ChevronLeft aria-hidden />
        </Button>
        <Button
          size="icon-sm"
          variant="ghost"
          aria-label="Later rows"
          disabled={rows.length < PREVIEW_ROWS || (total !== null && last >= total)}
          onClick={() => onOffset(offset + PREVIEW_ROWS)}
        >
          <ChevronRight aria-hidden />
        </Button>
      </span>
    </footer>
  );
}

type CellProps = {
  value: Preview['rows'][number][number];
  conversation: Preview['conversations'][number] | undefined;
};

function Cell({ value, conversation }: CellProps) {
  if (conversation && conversation.turns.length > 0) {
    const { turns, turn_count: count } = conversation;
    return <Conversation turns={turns} more={count - turns.length} />;
  }
  return value === null ? <span className="text-faint">empty</span> : String(value);
}

/** Why a file shows nothing at all. */
function noRowsText(columns: string[], brokenCount: number): { title: string; description: string } {
  if (brokenCount > 0) {
    return {
      title: 'This file has no rows that can be read',
      description: 'Fix the lines listed above and upload the file again.',
    };
  }
  return columns.length > 0
    ? { title: 'This file has only a header', description: `Its columns: ${columns.join(', ')}.` }
    : { title: 'This file is empty', description: 'It has no rows.' };
}
