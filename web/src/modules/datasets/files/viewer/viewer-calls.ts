import { previewFile } from '@bakehouse/contract/assets';
import {
  describeColumns,
  listFileVersions,
  type RowFilter,
  searchRows,
  showPictures,
} from '@bakehouse/contract/data-files';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { call } from '../../../../lib/api/api-client.ts';
import { assetReadLimits } from '../../../../lib/api/asset-read-limits.ts';
import { endpointQuery } from '../../../../lib/api/endpoint-query.ts';
import { endpointPages } from '../../../../lib/live/paged-query.ts';

/** A file in one revision; its bytes never change. */
export type RevisionFile = { assetId: string; revisionId: string; path: string };

/** Slightly longer than the server's time limit for reading a whole file. */
export const WHOLE_FILE_MS = 100_000;

const forGood = { staleTime: Number.POSITIVE_INFINITY };

/** Reads statistics of a file's columns. */
export const columnsQuery = ({ assetId, revisionId, path }: RevisionFile) =>
  endpointQuery(
    ['asset', 'columns', { assetId, revisionId, path }],
    describeColumns,
    { params: { id: assetId }, query: { path, revision_id: revisionId } },
    // Not retried: each attempt reads the whole file (possibly gigabytes) and would fail the same way.
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

type PicturesPage = { column: string; offset: number; limit: number };

/** Search criteria for rows: text in a cell, and all filters. */
export type RowSearch = { text: string; filters: RowFilter[] };

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

/** Pages through the revisions that changed a file. `newest` (the asset's revision) is part of the key. */
export const versionsQuery = ({ assetId, path, newest }: { assetId: string; path: string; newest: string }) =>
  endpointPages(
    ['asset', 'versions', { assetId, path, newest }],
    listFileVersions,
    { params: { id: assetId }, query: { path } },
    { rows: 'versions', id: 'revision_id', ...forGood, call: assetReadLimits() },
  );
