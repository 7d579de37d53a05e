import * as z from 'zod';
import { OutOfLimits, runConfined } from '../../../platform/confined/run-confined.ts';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { withBlobFile } from '../../../platform/storage/with-blob-file.ts';
import type { FileRow } from '../../assets/queries.ts';

const CPU_SECONDS = 15;
/** Where all of a file is read, of gigabytes too. */
export const WHOLE_FILE_CPU_SECONDS = 90;
const HEAP_MB = 512;
/** Far more than a page asks for at once. */
const WAITING_MAX = 4;

/** A data file as it is asked for, of the newest revision unless said. With the signal reading it ends. */
export type AskedFile = {
  assetId: string;
  path: string;
  revisionId?: string | undefined;
  signal?: AbortSignal | undefined;
};

type Reading = {
  program: URL;
  input: { name: string };
  signal: AbortSignal | undefined;
  /** Processor time that it may take; that of a first look unless said. */
  cpuSeconds?: number;
};

const unreadable = z.object({ unreadable: z.object({ sentence: z.string(), param: z.string() }) });

/**
 * Reads a data file in a process of its own, because a file can be made so that this takes long or much memory. Answers
 * what the program does. Throws AppError('invalid_request') for other kinds of file, for what cannot be read, and for
 * what takes too much, and 'unavailable' for a user who waits for several, and on a machine that is too slow. With the
 * signal it ends, with its reason.
 */
export async function readConfined(
  ctx: Context,
  file: FileRow,
  { program, input, signal, cpuSeconds = CPU_SECONDS }: Reading,
): Promise<unknown> {
  const limits = {
    // Reading a whole file takes as long as a query.
    kind: cpuSeconds > CPU_SECONDS ? 'query' : 'preview',
    cpuSeconds,
    heapMb: HEAP_MB,
    userId: ctx.caller.userId,
    waitingMax: WAITING_MAX,
    signal,
  } as const;
  const output = await withBlobFile(ctx, file, (localPath) =>
    runConfined(ctx.sandbox, { program, localPath, input }, limits),
  ).catch((cause: unknown) => {
    if (!(cause instanceof OutOfLimits)) throw cause;
    throw new AppError('invalid_request', {
      publicMessage: `${input.name} takes too much time or memory to be shown here. Download it to see its rows.`,
      param: 'path',
      cause,
    });
  });
  const refused = unreadable.safeParse(output);
  if (!refused.success) return output;
  const { sentence, param } = refused.data.unreadable;
  throw new AppError('invalid_request', { publicMessage: sentence, param });
}
