import { createHash } from 'node:crypto';
import type { TreeEntry } from '@bakehouse/contract/hub/shared';
import type { Commit } from '../../assets/revisions/find-commit.ts';
import type { FileRow } from '../../assets/revisions/read-tree.ts';

type Bytes = Pick<FileRow, 'sha256' | 'size_bytes'>;

/**
 * Returns a file's Git LFS fields: LFS identifies bytes by their SHA-256, as this server does. The Git blob
 * is the pointer file, derived from that.
 */
export function toLfs({ sha256, size_bytes }: Bytes): { blobId: string; size: number; pointerSize: number } {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${size_bytes}\n`;
  const blobId = createHash('sha1').update(`blob ${pointer.length}\0${pointer}`).digest('hex');
  return { blobId, size: Number(size_bytes), pointerSize: pointer.length };
}

export function toFileEntry(file: FileRow, lastCommit?: Commit): TreeEntry {
  const { blobId, size, pointerSize } = toLfs(file);
  return {
    type: 'file',
    oid: blobId,
    size,
    path: file.path,
    lfs: { oid: file.sha256, size, pointerSize },
    ...(lastCommit && {
      lastCommit: {
        id: lastCommit.commitId,
        title: titleOf(lastCommit),
        date: lastCommit.createdAt.toISOString(),
      },
    }),
  };
}

/** Git would hash a folder's content; we hash its path in the commit. */
export function toFolderEntry(path: string, commitId: string): TreeEntry {
  const oid = createHash('sha1').update(`tree ${commitId} ${path}`).digest('hex');
  return { type: 'directory', oid, size: 0, path };
}

/** Returns the first line of a commit message. */
export function titleOf({ message }: Pick<Commit, 'message'>): string {
  return message.split('\n')[0] || 'Change files';
}
