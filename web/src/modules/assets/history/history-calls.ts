import { compareCommits, listAssetCommits } from '@bakehouse/contract/asset-commits';
import { assetTree } from '@bakehouse/contract/assets';
import { compareRows } from '@bakehouse/contract/data-files';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { storedRead } from '../../../lib/api/stored-read.ts';
import { endpointPages } from '../../../lib/live/paged-query.ts';

/** A little more than the server gives a comparison. */
const ROWS_MS = 70_000;

/** The commits of an asset, newest first; after `newest` there may be more. */
export const commitsQuery = ({ assetId, newest }: { assetId: string; newest: string | null }) =>
  endpointPages(
    ['asset', 'commits', { assetId, newest }],
    listAssetCommits,
    { params: { id: assetId } },
    { rows: 'commits', id: 'commit_id', call: storedRead() },
  );

/** Two commits, the one before unless said. */
export type CommitPair = { assetId: string; from?: string | undefined; to: string };

export const comparisonQuery = ({ assetId, from, to }: CommitPair) =>
  endpointQuery(
    ['asset', 'diff', { assetId, from, to }],
    compareCommits,
    { params: { id: assetId }, query: { from, to } },
    { call: storedRead() },
  );

/** What commits hold never changes. */
export const rowDifferencesQuery = ({ assetId, from, to, path }: CommitPair & { path: string }) =>
  endpointQuery(
    ['asset', 'diff', { assetId, from, to, path }],
    compareRows,
    { params: { id: assetId }, query: { from, to, path } },
    { retry: false, staleTime: Number.POSITIVE_INFINITY, call: { ...storedRead(), timeoutMs: ROWS_MS } },
  );

/** What lies directly in a folder of a revision, page by page. */
export const folderQuery = ({
  assetId,
  revisionId,
  path,
}: {
  assetId: string;
  revisionId: string;
  path: string;
}) =>
  endpointPages(
    ['asset', 'files', assetId, { revisionId, path }],
    assetTree,
    { params: { id: assetId }, query: { path, revision_id: revisionId } },
    { rows: 'entries', id: 'path', staleTime: Number.POSITIVE_INFINITY, call: storedRead() },
  );
