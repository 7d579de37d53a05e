import { compareCommits, listAssetCommits } from '@bakehouse/contract/asset-commits';
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
    { rows: 'commits', id: 'commit_id', staleTime: Number.POSITIVE_INFINITY, call: storedRead() },
  );

/** Two commits, the one before unless said. What they hold never changes. */
export type CommitPair = { assetId: string; from?: string | undefined; to: string };

export const comparisonQuery = ({ assetId, from, to }: CommitPair) =>
  endpointQuery(
    ['asset', 'diff', { assetId, from, to }],
    compareCommits,
    { params: { id: assetId }, query: { from, to } },
    { staleTime: Number.POSITIVE_INFINITY, call: storedRead() },
  );

export const rowDifferencesQuery = ({ assetId, from, to, path }: CommitPair & { path: string }) =>
  endpointQuery(
    ['asset', 'diff', { assetId, from, to, path }],
    compareRows,
    { params: { id: assetId }, query: { from, to, path } },
    { retry: false, staleTime: Number.POSITIVE_INFINITY, call: { ...storedRead(), timeoutMs: ROWS_MS } },
  );
