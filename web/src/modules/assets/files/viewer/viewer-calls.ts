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
import { endpointQuery } from '../../../../lib/api/endpoint-query.ts';
import { storedRead } from '../../../../lib/api/stored-read.ts';
import { endpointPages } from '../../../../lib/live/paged-query.ts';

/** A file as one revision has it: its bytes never change. */
export type RevisionFile = { assetId: string; revisionId: string; path: string };

/** A little more than the server takes to read all of a file. */
const WHOLE_FILE_MS = 100_000;

const forGood = { staleTime: Number.POSITIVE_INFINITY };

/** What its columns hold. */
export const columnsQuery = ({ assetId, revisionId, path }: RevisionFile) =>
  endpointQuery(
    ['asset', 'columns', { assetId, revisionId, path }],
    describeColumns,
    { params: { id: assetId }, query: { path, revision_id: revisionId } },
    // What cannot be read cannot be read again either. All of a file is read: of one of gigabytes that takes its time.
    { retry: false, ...forGood, call: { ...storedRead(), timeoutMs: WHOLE_FILE_MS } },
  );

/** One row with nothing cut off; `at` counts from 0. */
export const rowQuery = ({ assetId, revisionId, path, at }: RevisionFile & { at: number }) =>
  endpointQuery(
    ['asset', 'row', { assetId, revisionId, path, at }],
    previewFile,
    { params: { id: assetId }, query: { path, revision_id: revisionId, offset: at, limit: 1 } },
    { ...forGood, call: storedRead() },
  );

/** Thumbnails of the pictures in a column of a page of rows. */
export const picturesQuery = ({ assetId, revisionId, path, ...page }: RevisionFile & PicturesPage) =>
  endpointQuery(
    ['asset', 'row', { assetId, revisionId, path, ...page }],
    showPictures,
    { params: { id: assetId }, query: { path, revision_id: revisionId, ...page } },
    { retry: false, ...forGood, call: { ...storedRead(), timeoutMs: WHOLE_FILE_MS } },
  );

type PicturesPage = { column: string; offset: number; limit: number };

/** What rows are wanted: with a text in a cell, and all filters matched. */
export type WantedRows = { text: string; filters: RowFilter[] };

/** The rows that are wanted, one look into the file after the other. Who leaves before the answer ends the search. */
export const foundRowsQuery = ({ assetId, revisionId, path, text, filters }: RevisionFile & WantedRows) =>
  infiniteQueryOptions({
    // Like a row: what is found in a revision does not change.
    queryKey: ['asset', 'row', { assetId, revisionId, path, text, filters }],
    queryFn: ({ pageParam, signal }) =>
      call(
        searchRows,
        {
          params: { id: assetId },
          query: { path, revision_id: revisionId, text, filters: JSON.stringify(filters), offset: pageParam },
        },
        { signal, ...storedRead(), timeoutMs: WHOLE_FILE_MS },
      ),
    initialPageParam: 0,
    getNextPageParam: (look) => look.next_offset,
    retry: false,
    ...forGood,
  });

/** The revisions that brought a file or replaced it, page by page; `newest` is the asset's, after which there may be more. */
export const versionsQuery = ({ assetId, path, newest }: { assetId: string; path: string; newest: string }) =>
  endpointPages(
    ['asset', 'versions', { assetId, path, newest }],
    listFileVersions,
    { params: { id: assetId }, query: { path } },
    { rows: 'versions', id: 'revision_id', ...forGood, call: storedRead() },
  );
