import type { BlobStore } from './blob-store.ts';

/**
 * While files are moved from one store to another: what is written goes to the new one, and what is not there yet is
 * read from the old one, which keeps all that it has but for what is deleted.
 */
export function openMovingBlobStore(to: BlobStore, from: BlobStore): BlobStore {
  /** The store that has the blob; the new one where none has. */
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
