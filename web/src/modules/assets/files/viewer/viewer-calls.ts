import { previewFile } from '@bakehouse/contract/assets';
import {
  describeColumns,
  type FileColumns,
  listFileVersions,
  type RowFilter,
  searchRows,
  showPictures,
} from '@bakehouse/contract/data-files';
import { infiniteQueryOptions, useQueries } from '@tanstack/react-query';
import { call } from '../../../../lib/api/api-client.ts';
import { assetReadLimits } from '../../../../lib/api/asset-read-limits.ts';
import { endpointQuery } from '../../../../lib/api/endpoint-query.ts';
import { endpointPages } from '../../../../lib/live/paged-query.ts';

/** Slightly more than the server's limit for reading a whole file. */
const WHOLE_FILE_MS = 100_000;

const forGood = { staleTime: Number.POSITIVE_INFINITY };

/** Reads statistics of a file's columns. */
export const columnsQuery = ({ assetId, revisionId, path }: RevisionFile) =>
  endpointQuery(
    ['asset', 'columns', { assetId, revisionId, path }],
    describeColumns,
    { params: { id: assetId }, query: { path, revision_id: revisionId } },
    // Never retried, because the file does not change. Reads the whole file, which may be gigabytes.
    { retry: false, ...forGood, call: { ...assetReadLimits(), timeoutMs: WHOLE_FILE_MS } },
  );

/** One row in full; `at` counts from 0. */
export const rowQuery = ({ assetId, revisionId, path, at }: RevisionFile & { at: number }) =>
  endpointQuery(
    ['asset', 'row', { assetId, revisionId, path, at }],
    previewFile,
    { params: { id: assetId }, query: { path, revision_id: revisionId, offset: at, limit: 1 } },
    { ...forGood, call: assetReadLimits() },
  );

/** Thumbnails of the pictures in a column of a page of rows. */
export const picturesQuery = ({ assetId, revisionId, path, ...page }: RevisionFile & PicturesPage) =>
  endpointQuery(
    ['asset', 'row', { assetId, revisionId, path, ...page }],
    showPictures,
    { params: { id: assetId }, query: { path, revision_id: revisionId, ...page } },
    { retry: false, ...forGood, call: { ...assetReadLimits(), timeoutMs: WHOLE_FILE_MS } },
  );

/** Matching rows, one search request after another. Cancelling the query stops the search on the server. */
export const foundRowsQuery = ({ assetId, revisionId, path, text, filters }: RevisionFile & RowSearch) =>
  infiniteQueryOptions({
    // Never stale, because a revision does not change.
    queryKey: ['asset', 'row', { assetId, revisionId, path, text, filters }],
    queryFn: ({ pageParam, signal }) =>
      call(
        searchRows,
        {
          params: { id: assetId },
          query: { path, revision_id: revisionId, text, filters: JSON.stringify(filters), offset: pageParam },
        },
        { signal, ...assetReadLimits(), timeoutMs: WHOLE_FILE_MS },
      ),
    initialPageParam: 0,
    getNextPageParam: (look) => look.next_offset,
    retry: false,
    ...forGood,
  });

/**
 * Pages through the revisions that added or changed a file; `newest` is the asset's newest, and invalidates
 * the list.
 */
export const versionsQuery = ({ assetId, path, newest }: { assetId: string; path: string; newest: string }) =>
  endpointPages(
    ['asset', 'versions', { assetId, path, newest }],
    listFileVersions,
    { params: { id: assetId }, query: { path } },
    { rows: 'versions', id: 'revision_id', ...forGood, call: assetReadLimits() },
  );

/** A file in one revision; its bytes never change. */
export type RevisionFile = { assetId: string; revisionId: string; path: string };

type PicturesPage = { column: string; offset: number; limit: number };

/** Search criteria for rows: text in a cell, and all filters. */
export type RowSearch = { text: string; filters: RowFilter[] };

/** Pictures in a page of rows. */
export type Pictures = {
  /** Returns a row's thumbnail by column index; undefined while loading, null if there is none. */
  pictureOf: (column: number, row: number) => string | null | undefined;
  /** Rows with unreadable pictures: index, column and reason. */
  broken: { column: string; at: number; reason: string }[];
};

/** Returns the pictures in a page of rows. */
export function usePictures(
  file: RevisionFile,
  described: FileColumns | undefined,
  page: { offset: number; limit: number },
): Pictures {
  const columns = (described?.columns ?? []).flatMap(({ name, type }, at) =>
    type === 'picture' ? [{ name, at }] : [],
  );
  const found = useQueries({
    queries: columns.map(({ name }) => picturesQuery({ ...file, column: name, ...page })),
  });
  return {
    pictureOf: (column, row) => {
      const query = found[columns.findIndex(({ at }) => at === column)];
      if (!query || query.isError) return null;
      return query.data ? (query.data.pictures[row] ?? null) : undefined;
    },
    broken: found.flatMap(({ data }, at) =>
      (data?.broken ?? []).map((one) => ({ ...one, column: columns[at]?.name ?? '' })),
    ),
  };
}
