import type { Readable } from 'node:stream';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { requireRevision } from '../../assets/access/require-revision.ts';
import { listRevisionFiles } from '../../assets/revisions/list-revision-files.ts';
import { withCids } from '../cids/address-files.ts';
import { findRevisionCid } from '../queries.ts';
import { readFileCar, readFolderCar } from './read-car.ts';

export type WantedCar = {
  assetId: string;
  userId: string;
  revisionId?: string | undefined;
  path?: string | undefined;
};

export type FoundCar = { revisionId: string; name: string; read: () => Readable };

/**
 * The CAR of a revision, or of one file of it, which is made when it is read. Throws AppError('not_found') unless the user may
 * read it and the file is there, and 'conflict' where the CID is not computed yet.
 */
export async function findCar(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { path, revisionId: wanted, ...who }: WantedCar,
): Promise<FoundCar> {
  const { db } = services;
  const { revision } = await requireRevision(db, { ...who, ...(wanted && { revisionId: wanted }) });
  const revisionId = revision.id;
  const cid = await findRevisionCid(db, revisionId);
  if (cid === null)
    throw new AppError('conflict', {
      publicMessage: 'This revision has no CID yet. Turn IPFS on for it, or wait until its CID is computed',
    });
  const files = await withCids(db, await listRevisionFiles(db, { revisionId, path }));
  const addressed = files.filter((file) => file.cid !== null);
  if (path === undefined)
    return { revisionId, name: `${cid}.car`, read: () => readFolderCar(services, cid, addressed) };
  const [file] = addressed;
  if (!file) throw new AppError('not_found', { publicMessage: `There is no file ${path}`, param: 'path' });
  return { revisionId, name: `${file.path}.car`, read: () => readFileCar(services, file) };
}
