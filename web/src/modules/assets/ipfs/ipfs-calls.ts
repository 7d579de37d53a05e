import { getIpfs, linkCar, listIpfsFiles } from '@bakehouse/contract/ipfs';
import { call } from '../../../lib/api/api-client.ts';
import { downloadFrom } from '../../../lib/api/download.ts';
import { endpointPages } from '../../../lib/live/paged-query.ts';

/** The versions of an asset that use IPFS, newest first. */
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

/** Has the browser download a version, or one file of it, as a CAR. Its name is the server's. */
export async function downloadCar(id: string, revisionId: string, path?: string): Promise<void> {
  const { url } = await call(linkCar, { params: { id }, query: { revision_id: revisionId, path } });
  downloadFrom(url, '');
}
