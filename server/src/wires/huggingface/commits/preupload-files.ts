import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { preuploadFiles as endpoint } from '@bakehouse/contract/hub/commits';
import { findFilesOf } from '../../../modules/assets/revisions/read-tree.ts';
import type { Context } from '../../../platform/context.ts';
import { openWritableBranch } from './refs.ts';

/** Larger files cannot be inlined in a commit. */
export const REGULAR_BYTES_MAX = 5 * 1024 * 1024;

/**
 * Files with these extensions are always uploaded separately, even if they are small. Clients may then omit
 * them from the commit, as with the public hub.
 */
const BINARY = new Set([
  ...[
    '7z',
    'arrow',
    'bin',
    'bz2',
    'ckpt',
    'ftz',
    'gguf',
    'gz',
    'h5',
    'joblib',
    'lz4',
    'mds',
    'mlmodel',
    'msgpack',
  ],
  ...[
    'npy',
    'npz',
    'onnx',
    'ot',
    'parquet',
    'pb',
    'pickle',
    'pkl',
    'pt',
    'pth',
    'rar',
    'safetensors',
    'tar',
    'tflite',
  ],
  ...[
    'tgz',
    'wasm',
    'xz',
    'zip',
    'zst',
    'aac',
    'flac',
    'mp3',
    'ogg',
    'wav',
    'bmp',
    'gif',
    'png',
    'tiff',
    'jpg',
    'jpeg',
  ],
  ...['webp', 'mp4', 'webm'],
]);

/** Returns how each file of a planned commit must be sent. Throws HubError. */
export async function preuploadFiles(
  ctx: Context,
  { params, query, body }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { asset, head } = await openWritableBranch(ctx, { ...params, ...query });
  const paths = body.files.map(({ path }) => path);
  const rows = await findFilesOf(ctx.db, { assetId: asset.id, number: head.number, paths });
  const present = new Map(rows.map(({ path, sha256 }) => [path, sha256]));
  return {
    files: body.files.map(({ path, size }) => {
      const isSentBefore =
        size > REGULAR_BYTES_MAX || BINARY.has(path.split('.').at(-1)?.toLowerCase() ?? '');
      const uploadMode = isSentBefore && size > 0 ? 'lfs' : 'regular';
      // Clients compare this with the hash of their file. Omit it for an inlined file, where they would
      // compare it with Git's hash.
      const oid = uploadMode === 'lfs' ? present.get(path) : undefined;
      return { path, uploadMode, shouldIgnore: false as const, ...(oid !== undefined && { oid }) };
    }),
    commitOid: head.commitId,
  };
}
