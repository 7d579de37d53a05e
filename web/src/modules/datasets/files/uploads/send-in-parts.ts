import {
  type AssetUpload,
  completeUpload,
  createUpload,
  putUploadPart,
} from '@bakehouse/contract/asset-uploads';
import type { uploadFile } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { call } from '../../../../lib/api/api-client.ts';
import { ApiError } from '../../../../lib/api/api-error.ts';
import { uploadBytes } from '../../../../lib/api/upload.ts';
import type { ChosenFile } from '../../../../lib/files/chosen-file.ts';
import { sha256 } from '../../../../lib/files/sha256.ts';
import { checkServer, isOnline, onReconnect } from '../../../../lib/live/online.ts';
import { deleteUpload } from './unfinished-uploads.ts';

type UploadedFile = ResponseOf<typeof uploadFile>;

/** Concurrent parts: enough to saturate the connection while one part is being hashed. */
const PARALLEL = 4;
/** The server responds within 20 s, if only to report that it is still assembling the file. */
const COMPLETE_MS = 60_000;
const PAUSE_MS = { first: 1_000, last: 30_000 };
/** Attempts if the server is busy or out of space, or has lost parts. */
const ANSWERED_TRIES = 5;
/** With the pauses between them, about half an hour. */
const ASSEMBLY_TRIES = 60;
const UNREACHED = ['network', 'timeout', 'lookup'];

type Options = {
  signal: AbortSignal;
  onProgress: (sentBytes: number) => void;
  /** Called when the upload starts or stops waiting for an unreachable server. */
  onStalled: (isStalled: boolean) => void;
};

/**
 * Uploads a file in concurrent parts, and resumes an earlier upload of the same file. Waits while the server
 * is unreachable. Throws an `ApiError`, with code 'aborted' if the signal stopped it; uploaded parts stay on
 * the server.
 */
export async function sendInParts(
  assetId: string,
  chosen: ChosenFile,
  options: Options,
): Promise<UploadedFile> {
  const { file, path } = chosen;
  const create = () =>
    persist(options, () =>
      call(
        createUpload,
        { params: { id: assetId }, body: { path, size_bytes: file.size } },
        { signal: options.signal },
      ),
    );
  let upload = await create();
  for (let tries = 0; ; tries += 1) {
    try {
      await sendMissing(assetId, upload, file, options);
      return await complete(assetId, upload, options);
    } catch (error) {
      if (tries >= ANSWERED_TRIES) throw error;
      if (error instanceof OtherFile) {
        // The earlier upload was of another file with the same name and size.
        await deleteUpload(assetId, upload.upload_id);
      } else if (!(error instanceof ApiError && error.status === 409 && error.param === 'parts')) throw error;
      if (tries > 0) await pause(options.signal, pauseAfter(tries));
      upload = await create();
    }
  }
}

/** The uploaded parts belong to another file. */
class OtherFile extends Error {
  override readonly message = 'Another file with this name and size is being uploaded. Rename one of them.';
}

async function sendMissing(id: string, upload: AssetUpload, file: File, options: Options): Promise<void> {
  if (upload.is_whole) return options.onProgress(file.size);
  const present = new Map(upload.parts.map((part) => [part.number, part.sha256]));
  const sent = new Map<number, number>();
  const recordPart = (number: number, bytes: number) => {
    sent.set(number, bytes);
    options.onProgress([...sent.values()].reduce((sum, one) => sum + one, 0));
  };
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  let next = 1;
  const work = async () => {
    while (next <= upload.part_count && !signal.aborted) {
      const number = next++;
      const start = (number - 1) * upload.part_bytes;
      const bytes = file.slice(start, start + upload.part_bytes);
      const hash = await sha256(await bytes.arrayBuffer());
      const known = present.get(number);
      if (known !== undefined && known !== hash) throw new OtherFile();
      if (known === undefined) {
        const where = {
          params: { id, uploadId: upload.upload_id, number: String(number) },
          query: { sha256: hash },
        };
        const onProgress = (sentBytes: number) => recordPart(number, Math.min(sentBytes, bytes.size));
        await persist({ ...options, signal }, () =>
          uploadBytes(putUploadPart, where, bytes, { signal, onProgress }),
        );
      }
      recordPart(number, bytes.size);
    }
  };
  const workers = Array.from({ length: PARALLEL }, () =>
    work().catch((error: unknown) => {
      failed.abort();
      throw error;
    }),
  );
  const ended = await Promise.allSettled(workers);
  const errors = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  const [first] = errors.filter((error) => !(error instanceof ApiError && error.code === 'aborted'));
  if (first ?? errors[0]) throw first ?? errors[0];
  if (options.signal.aborted) throw aborted();
}

async function complete(
  id: string,
  { upload_id: uploadId }: AssetUpload,
  options: Options,
): Promise<UploadedFile> {
  for (let tries = 0; tries < ASSEMBLY_TRIES; tries += 1) {
    const { file, revision_id } = await persist(options, () =>
      call(completeUpload, { params: { id, uploadId } }, { signal: options.signal, timeoutMs: COMPLETE_MS }),
    );
    if (file && revision_id) return { file, revision_id };
    await pause(options.signal, pauseAfter(tries));
  }
  throw new ApiError('The server is still assembling the file. Try again in a few minutes to continue.', {
    ...{ status: 0, code: 'assembling' },
  });
}

/** Retries until the server answers; rejections are not retried. */
async function persist<T>(
  { signal, onStalled }: Omit<Options, 'onProgress'>,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw aborted();
      if (!(error instanceof ApiError)) throw error;
      const isBusy = (error.status === 429 || error.status >= 500) && tries < ANSWERED_TRIES;
      if (!isBusy && !UNREACHED.includes(error.code)) throw error;
      onStalled(true);
      await pause(signal, pauseAfter(tries));
      onStalled(false);
    }
  }
}

function pauseAfter(tries: number): number {
  return Math.min(PAUSE_MS.first * 2 ** tries, PAUSE_MS.last);
}

/** Waits for `ms` or until the server is reachable. */
async function pause(signal: AbortSignal, ms: number): Promise<void> {
  if (!isOnline()) void checkServer();
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stop();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    const stop = onReconnect(end);
    signal.addEventListener('abort', end);
  });
  if (signal.aborted) throw aborted();
}

function aborted(): ApiError {
  return new ApiError('The upload was cancelled', { status: 0, code: 'aborted' });
}
