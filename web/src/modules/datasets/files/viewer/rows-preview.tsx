import type { Asset, filePreview } from '@bakehouse/contract/assets';
import type { RowFilter } from '@bakehouse/contract/data-files';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import type * as z from 'zod';
import { countOf } from '../../../../lib/format/count-of.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { Button } from '../../../../ui/button.tsx';
import { Callout } from '../../../../ui/callout.tsx';
import { Card } from '../../../../ui/card.tsx';
import { EmptyState } from '../../../../ui/empty-state.tsx';
import { QueryView } from '../../../../ui/query-view.tsx';
import { SearchInput } from '../../../../ui/search-input.tsx';
import { Segmented } from '../../../../ui/segmented.tsx';
import { previewQuery } from '../../asset-calls.ts';
import { FileCombobox } from '../../choice/file-combobox.tsx';
import { hasRows } from '../data-file.ts';
import { mayHaveRows, selectedDataFile } from '../selected-data-file.ts';
import { suggestFixes } from '../suggest-fixes.ts';
import { filterText } from './column-sentences.ts';
import { ColumnsView } from './columns-view.tsx';
import { EditBar } from './editing/edit-bar.tsx';
import { type RowEdits, useRowEdits } from './editing/use-row-edits.ts';
import { FoundRows } from './found-rows.tsx';
import { PendingRows } from './pending-rows.tsx';
import { RowSheet } from './row-sheet.tsx';
import { RowTable } from './row-table.tsx';
import { RowsFooter } from './rows-footer.tsx';
import { PREVIEW_ROWS, pageStart, type RowsLocation } from './rows-location.ts';
import { type Pictures, usePictures } from './use-pictures.ts';
import { VersionSelect } from './version-select.tsx';
import { columnsQuery, type RevisionFile } from './viewer-calls.ts';

type Preview = z.output<typeof filePreview>;

const BROKEN_SHOWN = 5;

type Props = {
  asset: Asset;
  canChange: boolean;
  place: RowsLocation;
  onPlace: (place: RowsLocation) => void;
};

const views = [
  { value: 'rows', label: 'Rows' },
  { value: 'columns', label: 'Columns' },
] as const;

/** A viewer for data files: rows, a hundred at a time, and column statistics. */
export function RowsPreview({ asset, canChange, place, onPlace }: Props) {
  const { revision, view = 'rows' } = place;
  const shown = selectedDataFile(asset, place.file);
  // Drop the offset: another file starts at its first row.
  const select = (
    <FileSelect asset={asset} path={shown} onPath={(path) => onPlace({ file: path, view: place.view })} />
  );
  if (shown === undefined || !asset.revision_id) {
    return (
      <Card title={mayHaveRows(asset) && select}>
        <EmptyState
          title="No rows to show"
          description={
            mayHaveRows(asset)
              ? 'None of the first files contain rows. To open another file, type the start of its path above.'
              : 'Rows are shown for csv, jsonl, json, txt and parquet files.'
          }
        />
      </Card>
    );
  }
  const file = { assetId: asset.dataset_id, revisionId: revision ?? asset.revision_id, path: shown };
  // The key remounts the rows for another file, which closes the open row.
  const key = `${file.revisionId}/${file.path}`;
  return (
    <Card
      flush
      title={select}
      actions={
        <>
          <VersionSelect
            assetId={file.assetId}
            path={file.path}
            newest={asset.revision_id}
            value={revision}
            onChange={(chosen) => onPlace({ file: place.file, revision: chosen, view: place.view })}
          />
          <Segmented
            label="Show"
            value={view}
            onChange={(chosen) => onPlace({ ...place, view: chosen === 'columns' ? chosen : undefined })}
            options={views}
          />
        </>
      }
    >
      {revision !== undefined && (
        <Callout className="mx-5 mb-3">
          This is an earlier version of the file. New runs train on the newest version.
        </Callout>
      )}
      {view === 'rows' ? (
        <SearchableRows
          key={file.path}
          asset={asset}
          canChange={canChange && revision === undefined}
          file={file}
          place={place}
          onPlace={onPlace}
        />
      ) : (
        <ColumnsView
          key={key}
          file={file}
          onFilter={(filter) => onPlace(withFilter({ ...place, view: undefined }, filter))}
        />
      )}
    </Card>
  );
}

type SearchableProps = Props & { file: RevisionFile };

/** All rows, or only those that match the search. */
function SearchableRows({ asset, canChange, file, place, onPlace }: SearchableProps) {
  const { offset = 0, search = '', filters = [] } = place;
  const edits = useRowEdits({ asset, path: file.path, canChange });
  // The key remounts the rows for another revision, which closes the open row.
  const key = file.revisionId;
  const text = search.trim();
  const onFilter = (filter: RowFilter) => onPlace(withFilter(place, filter));
  return (
    <>
      <div className="px-5 pb-3">
        <SearchInput
          label="Search the rows"
          value={search}
          onChange={(typed) => onPlace({ ...place, search: typed || undefined })}
        />
        <Filters
          filters={filters}
          onRemove={(filter) => {
            const left = filters.filter((other) => other !== filter);
            onPlace({ ...place, filters: left.length > 0 ? left : undefined });
          }}
        />
      </div>
      {canChange && <EditBar edits={edits} path={file.path} />}
      {text === '' && filters.length === 0 ? (
        <Rows
          key={key}
          file={file}
          edits={edits}
          offset={offset}
          onOffset={(first) => onPlace({ ...place, offset: first || undefined })}
          onFilter={onFilter}
        />
      ) : (
        <FoundRows key={key} file={file} wanted={{ text, filters }} edits={edits} onFilter={onFilter} />
      )}
    </>
  );
}

/** Each column has at most one filter. */
function withFilter(place: RowsLocation, filter: RowFilter): RowsLocation {
  const others = (place.filters ?? []).filter(({ column }) => column !== filter.column);
  return { ...place, filters: [...others, filter] };
}

type FiltersProps = { filters: RowFilter[]; onRemove: (filter: RowFilter) => void };

function Filters({ filters, onRemove }: FiltersProps) {
  if (filters.length === 0) return null;
  return (
    <ul aria-label="Filters" className="mt-2 flex flex-wrap gap-1.5">
      {filters.map((filter) => (
        <li key={filter.column} className="max-w-full">
          <Button
            size="sm"
            className="max-w-full"
            aria-label={`Remove the filter ${filterText(filter)}`}
            onClick={() => onRemove(filter)}
          >
            <span dir="auto" className="truncate">
              {filterText(filter)}
            </span>
            <X aria-hidden />
          </Button>
        </li>
      ))}
    </ul>
  );
}

type FileSelectProps = { asset: Asset; path: string | undefined; onPath: (path: string) => void };

function FileSelect({ asset, path, onPath }: FileSelectProps) {
  const isOnlyOne =
    asset.next_files_cursor === null && asset.files.filter((file) => hasRows(file.path)).length === 1;
  if (isOnlyOne) return path;
  return (
    <div className="max-w-md">
      <FileCombobox
        aria-label="File"
        datasetId={asset.dataset_id}
        dataset={asset}
        accepts={hasRows}
        value={path ?? null}
        // Ignore null: the field is empty while another name is typed.
        onChange={(chosen) => chosen !== null && onPath(chosen)}
      />
    </div>
  );
}

type RowsProps = {
  file: RevisionFile;
  edits: RowEdits;
  offset: number;
  onOffset: (offset: number) => void;
  onFilter: (filter: RowFilter) => void;
};

function Rows({ file, edits, offset, onOffset, onFilter }: RowsProps) {
  const { editor, changes } = edits;
  const [row, setRow] = useState<number | null>(null);
  const preview = useQuery({ ...previewQuery({ ...file, offset }), placeholderData: keepPreviousData });
  const isBusy = preview.isPlaceholderData;
  // The previous page stays visible with its row numbers until the next one arrives.
  const [shownOffset, setShownOffset] = useState(offset);
  if (preview.data && !isBusy && shownOffset !== offset) setShownOffset(offset);
  // Wait for the rows, because the server reads one file per user at a time.
  const columns = useQuery({ ...columnsQuery(file), enabled: preview.data !== undefined });
  const pictures = usePictures(file, columns.data, { offset: shownOffset, limit: PREVIEW_ROWS });
  // For large text files, only the column statistics include the row count.
  const total = preview.data?.total_rows ?? (columns.data?.is_whole ? columns.data.rows : null);
  const goTo = (at: number | null) => {
    setRow(at);
    // Move the table to the page of this row.
    if (at !== null && at >= 0 && pageStart(at) !== offset) onOffset(pageStart(at));
  };

  return (
    <>
      <QueryView query={preview} failed="This file cannot be shown" flush pending={<PendingRows />}>
        {(data) => (
          <>
            {data.format && data.format_problem && (
              <Callout tone="warn" className="mx-5 mb-3" title="This file cannot be trained on as it is">
                {data.format_problem}
              </Callout>
            )}
            <BrokenRows {...data} />
            <BrokenPictures broken={pictures.broken} />
            {total === 0 && changes.size === 0 ? (
              <EmptyState {...noRowsText(data.columns, data.broken_count)} />
            ) : (
              <>
                <RowTable
                  preview={data}
                  numbers={data.rows.map((_, index) => shownOffset + index)}
                  isBusy={isBusy}
                  described={columns.isError ? null : columns.data}
                  onRow={goTo}
                  onFilter={onFilter}
                  pictureOf={pictures.pictureOf}
                  changes={changes}
                  withNew
                />
                <RowsFooter
                  preview={data}
                  total={total}
                  offset={shownOffset}
                  asked={offset}
                  onOffset={onOffset}
                />
              </>
            )}
            {editor && data.columns.length > 0 && <AddRow onClick={() => setRow(editor.nextAt)} />}
          </>
        )}
      </QueryView>
      <RowSheet
        file={file}
        at={row}
        total={total}
        onAt={goTo}
        editor={editor}
        columns={preview.data?.columns ?? []}
      />
    </>
  );
}

function AddRow({ onClick }: { onClick: () => void }) {
  return (
    <div className="px-5 pb-3">
      <Button size="sm" onClick={onClick}>
        <Plus aria-hidden />
        Add row
      </Button>
    </div>
  );
}

/** Unreadable pictures among the displayed rows; training would skip them. */
function BrokenPictures({ broken }: Pick<Pictures, 'broken'>) {
  if (broken.length === 0) return null;
  return (
    <Callout
      tone="warn"
      className="mx-5 mb-3"
      title={`${countOf(broken.length, 'picture')} of these rows cannot be read`}
    >
      <ul>
        {broken.slice(0, BROKEN_SHOWN).map(({ column, at, reason }) => (
          <li key={`${column} ${at}`} className="[overflow-wrap:anywhere]">
            Row {formatNumber(at + 1)}, {column}: {reason}
          </li>
        ))}
        {broken.length > BROKEN_SHOWN && <li>and {formatNumber(broken.length - BROKEN_SHOWN)} more</li>}
      </ul>
    </Callout>
  );
}

/** Unreadable rows with line numbers and fixes. */
function BrokenRows({ broken, broken_count: count }: Pick<Preview, 'broken' | 'broken_count'>) {
  if (count === 0) return null;
  const fixes = suggestFixes(broken.map(({ reason }) => reason));
  return (
    <Callout tone="warn" className="mx-5 mb-3" title={`${countOf(count, 'row')} could not be read`}>
      <ul>
        {broken.slice(0, BROKEN_SHOWN).map(({ line, reason }) => (
          <li key={line}>
            Line {formatNumber(line)}: {reason}
          </li>
        ))}
        {count > BROKEN_SHOWN && <li>and {formatNumber(count - BROKEN_SHOWN)} more</li>}
      </ul>
      {fixes.map((fix) => (
        <p key={fix} className="mt-1.5 text-ink">
          {fix}
        </p>
      ))}
    </Callout>
  );
}

/** Returns why a file shows no rows. */
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
