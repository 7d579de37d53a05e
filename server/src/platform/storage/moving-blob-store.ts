import type { BlobStore } from './blob-store.ts';

/**
 * Store to use while files are moved from one store to another: writes go to the new one, missing files are
 * read from the old one, which retains everything except deleted files.
 */
export function openMovingBlobStore(to: BlobStore, from: BlobStore): BlobStore {
  /** Returns the store that has the blob; the new one if neither has. */
  const holderOf = async (sha256: string) =>
    (await to.stat(sha256)) === null && (await from.stat(sha256)) !== null ? from : to;
  return {
    ...to,
    read: async (sha256, range) => {
      try {
        return await to.read(sha256, range);
      } catch (error) {
        if ((await from.stat(sha256)) === null) throw error;
        return from.read(sha256, range);
      }
    },
    stat: async (sha256) => (await to.stat(sha256)) ?? (await from.stat(sha256)),
    withLocalFile: async (sha256, work) => (await holderOf(sha256)).withLocalFile(sha256, work),
    presign: async (sha256, answer) => (await holderOf(sha256)).presign(sha256, answer),
    delete: async (sha256, signal) => {
      await from.delete(sha256, signal);
      await to.delete(sha256, signal);
    },
    removeUnfinished: async () => {
      await from.removeUnfinished();
      await to.removeUnfinished();
    },
  };
}
