import { filePreview } from '@bakehouse/contract/assets';
import * as z from 'zod';
import { OutOfLimits, runConfined } from '../../platform/confined/run-confined.ts';
import type { Context } from '../../platform/context.ts';
import { invalidParam } from '../../platform/errors.ts';
import { withBlobFile } from '../../platform/storage/read-blob.ts';
import { findFile } from '../assets/files/files.ts';
import type { FileRow } from '../assets/queries.ts';
import { extensionOf, ROWS_FILE } from './data-file.ts';
import type { Page, Preview } from './preview/read-preview.ts';
import { confinedLimitExceeded, type Profile, withProfile } from './read-profile.ts';

const PROGRAM = new URL('./preview/read-preview-program.ts', import.meta.url);
const answer = z.object({ preview: filePreview });

const CPU_SECONDS = 15;
/** CPU seconds for reading a whole file, which may have several gigabytes. */
export const WHOLE_FILE_CPU_SECONDS = 90;
const HEAP_MB = 512;
/** A page of the web app sends fewer requests at the same time. */
const WAITING_MAX = 4;

/** A request for a data file, of the newest revision by default. Aborting the signal stops the read. */
export type DataFileRequest = {
  assetId: string;
  path: string;
  revisionId?: string | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * Returns a page of rows of a data file, from the newest revision by default. Throws the errors of
 * `readConfined`.
 */
export async function previewFile(
  ctx: Context,
  { assetId, path, revisionId, signal, ...page }: DataFileRequest & Page,
): Promise<Preview> {
  const file = await findFile(ctx, { assetId, revisionId, path });
  const input = { name: path, offset: page.offset, limit: page.limit };
  const read = await readConfined(ctx, file, { program: PROGRAM, input, signal, needsFormat: true });
  return answer.parse(read).preview;
}

type Reading = {
  program: URL;
  input: { name: string };
  signal: AbortSignal | undefined;
  /** CPU time limit in seconds; defaults to the limit of a preview. */
  cpuSeconds?: number;
  /** The format of Parquet is read only if the program needs it. */
  needsFormat?: boolean;
};

const unreadable = z.object({ unreadable: z.object({ sentence: z.string(), param: z.string() }) });

/**
 * Reads a data file in a separate process, because a file can be made to take much time or memory. The
 * program gets the rows that training's reader has written, and this function returns the program's answer.
 * Throws AppError('invalid_request') for other kinds of file, unreadable files and exceeded limits. Throws
 * 'unavailable' if the user has too many requests waiting, the machine is too slow, or Python is not
 * installed yet. Throws the signal's reason on abort.
 */
export async function readConfined(
  ctx: Context,
  file: FileRow,
  { program, input, signal, cpuSeconds = CPU_SECONDS, needsFormat = false }: Reading,
): Promise<unknown> {
  const limits = {
    // Reading a whole file may take as long as a query, so it has the same limit of concurrent processes.
    kind: cpuSeconds > CPU_SECONDS ? 'query' : 'preview',
    cpuSeconds,
    heapMb: HEAP_MB,
    userId: ctx.caller.userId,
    waitingMax: WAITING_MAX,
    signal,
  } as const;
  const run = (known: { profile: Profile; rowsPath: string | null } | null) =>
    withBlobFile(ctx, file, (localPath) =>
      runConfined(
        ctx.sandbox,
        {
          ...{ program, localPath, input: { ...input, profile: known?.profile ?? null } },
          files: known?.rowsPath ? [{ localPath: known.rowsPath, as: ROWS_FILE }] : [],
        },
        limits,
      ),
    );
  const isTyped = extensionOf(file.path) === 'parquet' && !needsFormat;
  const output = await (isTyped ? run(null) : withProfile(ctx, file, run)).catch((cause: unknown) => {
    throw cause instanceof OutOfLimits ? confinedLimitExceeded(input.name, cause) : cause;
  });
  const refused = unreadable.safeParse(output);
  if (!refused.success) return output;
  const { sentence, param } = refused.data.unreadable;
  throw invalidParam(param, sentence);
}
