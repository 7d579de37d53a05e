import { compareCommits, listAssetCommits } from '@bakehouse/contract/asset-commits';
import { assetTree } from '@bakehouse/contract/assets';
import { assetReadLimits } from '../../../lib/api/asset-read-limits.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { endpointPages } from '../../../lib/live/paged-query.ts';

/** Pages through the commits of an asset, newest first. `newest` is part of the query key. */
export const commitsQuery = ({ assetId, newest }: { assetId: string; newest: string | null }) =>
  endpointPages(
    ['asset', 'commits', { assetId, newest }],
    listAssetCommits,
    { params: { id: assetId } },
    { rows: 'commits', id: 'commit_id', call: assetReadLimits() },
  );

/** The files that a commit changed. */
export const comparisonQuery = ({ assetId, to }: { assetId: string; to: string }) =>
  endpointQuery(
    ['asset', 'diff', { assetId, to }],
    compareCommits,
    { params: { id: assetId }, query: { to } },
    { call: assetReadLimits() },
  );

/** Pages through the entries of a folder in a revision. */
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
    { rows: 'entries', id: 'path', staleTime: Number.POSITIVE_INFINITY, call: assetReadLimits() },
  );
