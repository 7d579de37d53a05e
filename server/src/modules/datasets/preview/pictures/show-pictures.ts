import { type FilePictures, type RowPictures, rowPictures } from '@bakehouse/contract/data-files';
import * as z from 'zod';
import { OutOfLimits, runConfined } from '../../../../platform/confined/run-confined.ts';
import type { Context } from '../../../../platform/context.ts';
import { withBlobFiles } from '../../../../platform/storage/read-blob.ts';
import { findFile } from '../../../assets/files/files.ts';
import { readRevision } from '../../../assets/read-revision.ts';
import { type DataFileRequest, readConfined } from '../../preview-file.ts';

const PROGRAM = new URL('./read-pictures-program.ts', import.meta.url);

/** Enough for a hundred pictures of a few megapixels each. */
const CPU_SECONDS = 60;

const answerSchema = z.object({ pictures: rowPictures });
const LIST_FILE_PICTURES_PROGRAM = new URL('./read-file-pictures-program.ts', import.meta.url);
const PICTURE_FILE = '\\.(png|jpe?g|webp)$';

/** Enough for a page of pictures of a few megapixels each. */
const limits = { kind: 'preview', cpuSeconds: 60, heapMb: 512, waitingMax: 4 } as const;

const looked = z.array(
  z.object({
    thumbnail: z.string().nullable(),
    width: z.int().nullable(),
    height: z.int().nullable(),
    problem: z.string().nullable(),
  }),
);

/** Returns thumbnails of the pictures in a column for some rows. Throws AppError like `previewFile`. */
export async function showPictures(
  ctx: Context,
  {
    assetId,
    path,
    revisionId,
    signal,
    ...page
  }: DataFileRequest & { column: string; offset: number; limit: number },
): Promise<RowPictures> {
  const file = await findFile(ctx, { assetId, revisionId, path });
  const input = { name: path, ...page };
  const read = await readConfined(ctx, file, { program: PROGRAM, input, signal, cpuSeconds: CPU_SECONDS });
  return answerSchema.parse(read).pictures;
}

type Asked = {
  assetId: string;
  revisionId?: string | undefined;
  limit: number;
  cursor?: string | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * Returns a page of a dataset's picture files with thumbnails. A broken picture has a reason instead. Throws
 * AppError('not_found') unless the caller may read the dataset, 'conflict' if it has no files, 'unavailable'
 * if the user has too many requests waiting, and the signal's reason on abort.
 */
export async function listFilePictures(
  ctx: Context,
  { assetId, revisionId, limit, cursor, signal }: Asked,
): Promise<FilePictures> {
  const { userId } = ctx.caller;
  const { files: found } = await readRevision(ctx.db, {
    ...{ assetId, userId, matching: PICTURE_FILE, after: cursor, limit: limit + 1 },
    ...(revisionId && { revisionId }),
  });
  const files = found.slice(0, limit);
  // Name the files by index, so that the program gets no names from users.
  const names = files.map((_, at) => String(at));
  const answer = await withBlobFiles(ctx, files, (localPaths) =>
    runConfined(
      ctx.sandbox,
      {
        program: LIST_FILE_PICTURES_PROGRAM,
        files: localPaths.map((localPath, at) => ({ localPath, as: names[at] ?? '' })),
        input: { names },
      },
      { ...limits, userId, signal },
    ),
  ).catch((cause: unknown) => {
    if (!(cause instanceof OutOfLimits)) throw cause;
    const problem = 'These pictures take too much time or memory to be shown here';
    return files.map(() => ({ thumbnail: null, width: null, height: null, problem }));
  });
  const pictures = looked.parse(files.length > 0 ? answer : []);
  return {
    pictures: files.map(({ path, sizeBytes }, at) => ({
      path,
      size_bytes: sizeBytes,
      ...(pictures[at] ?? { thumbnail: null, width: null, height: null, problem: 'It was not checked' }),
    })),
    next_cursor: found.length > limit ? (files.at(-1)?.path ?? null) : null,
  };
}
