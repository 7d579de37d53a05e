import { getIpfs, listIpfsFiles } from '@bakehouse/contract/ipfs';
import { endpointPages } from '../../../lib/live/paged-query.ts';

/** Pages through the versions of an asset on IPFS, newest first. */
export const ipfsQuery = (id: string) =>
  endpointPages(['asset', 'ipfs', id], getIpfs, { params: { id } }, { rows: 'revisions', id: 'revision_id' });

/** The files of a version with their CIDs. */
export const ipfsFilesQuery = (id: string, revisionId: string) =>
  endpointPages(
    ['asset', 'ipfs', id, 'files', revisionId],
    listIpfsFiles,
    { params: { id }, query: { revision_id: revisionId } },
    { rows: 'files', id: 'path' },
  );
