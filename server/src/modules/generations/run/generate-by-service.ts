import { Readable } from 'node:stream';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { toJson } from '../../../platform/db/database.ts';
import { AppError, unavailable } from '../../../platform/errors.ts';
import { fetchPublic } from '../../../platform/http/addresses/fetch-public.ts';
import { LeaseLost } from '../../../platform/leases/hold-lease.ts';
import { renewLease } from '../../../platform/leases/leased-table.ts';
import { BadMedia } from '../../media/bad-media.ts';
import { generateUpstream, type UpstreamOutputs } from '../../providers/generate-upstream.ts';
import { generationMetadata } from '../generations.ts';
import { type Medium, mediumOf } from '../media-table.ts';
import { readInput } from '../sources/sources.ts';
import type { Attempt, Generated, RunningParts } from './attempt.ts';
import { generationsTable } from './generations-table.ts';
import { attemptOf, isWaitFree } from './plan-generation.ts';
import { begun } from './progress.ts';

/** Attempts per download. A broken connection is retried once, immediately. */
const TRIES = 2;

/**
 * Pause before downloading again. A service stores its outputs for hours, so they survive an outage of the
 * network or of this server.
 */
const FETCH_AGAIN_MS = 20_000;

/**
 * Limits the outputs that this process stores concurrently, in total and per user, because each is inspected
 * and gets a thumbnail.
 */
const places = fairQueue(8, { perKey: 2, lastForNewcomer: true });

/**
 * Generates at a service. Saves the job before waiting, so that the next attempt resumes it. Throws the
 * errors of `generateUpstream`, and LeaseLost.
 */
export async function generateByService(
  { services }: RunningParts,
  { lease, report, signal, keep }: Attempt,
): Promise<Generated> {
  const { db, clock, config } = services;
  const { generator, model, prompt, parameters, upstream_job, user_id: userId, asked } = lease.row;
  const medium = mediumOf(generator);
  report.update({ ...begun, reason: '' });
  const generated = await generateUpstream(
    {
      ...{ generator, model, prompt, parameters, wishes: asked ?? {} },
      readPicture: () => readInput(services, lease.row),
    },
    {
      config,
      clock,
      job: upstream_job,
      keepJob: async (job) => {
        const values = {
          upstream_job: job && toJson(job),
          // A submission may be charged, so it counts as an attempt: a server that crashes repeatedly must
          // not resubmit forever.
          ...(job?.handle === null && { attempt: attemptOf(lease) }),
        };
        if (!(await renewLease(db, generationsTable, lease, { now: clock.now(), values })))
          throw new LeaseLost();
      },
      onWait: ({ reason, isGenerating }) =>
        report.update({ ...begun, state: isGenerating ? 'running' : 'starting', reason }),
      msMax: medium.serviceMsMax,
      signal,
    },
  );
  const metadata = generationMetadata(lease.row);
  const outputs = await fetchOutputs(generated, {
    ...{ userId, medium, signal },
    waitsForAll: isWaitFree(lease.row.started_at, clock.now()),
    keep: (bytes) => keep({ bytes, metadata }),
  });
  return { outputs, revisionId: null, details: {} };
}

type Options<Kept> = {
  userId: string;
  medium: Pick<Medium, 'noun' | 'fetchMsMax'>;
  signal: AbortSignal;
  waitsForAll: boolean;
  /** Stores the stream. Throws BadMedia for an incomplete file. */
  keep: (bytes: Readable) => Promise<Kept>;
};

/**
 * Downloads and stores a service's outputs. Returns the outputs that were complete. Throws AppError
 * 'unavailable' if none was (dead or internal address, oversized or invalid file). With `waitsForAll`, it
 * also throws 'unavailable' if any output is temporarily unreachable. Otherwise throws the errors of `keep`,
 * or the signal's reason.
 */
export async function fetchOutputs<Kept>(
  generated: UpstreamOutputs,
  { userId, medium, signal, waitsForAll, keep }: Options<Kept>,
): Promise<Kept[]> {
  const taken = await Promise.allSettled(
    generated.addresses.map((address) =>
      places.run(userId, () => fetchOne(address, generated, { medium, signal, keep }), signal),
    ),
  );
  signal.throwIfAborted();
  const kept: Kept[] = [];
  const failures: AppError[] = [];
  for (const one of taken) {
    if (one.status === 'rejected') throw one.reason;
    if ('kept' in one.value) kept.push(one.value.kept);
    else failures.push(one.value.failure);
  }
  const outOfReach = failures.find(({ retryAfterMs }) => retryAfterMs !== null);
  if (outOfReach && (waitsForAll || kept.length === 0)) throw outOfReach;
  if (kept.length === 0 && failures[0]) throw failures[0];
  return kept;
}

/** Returns the stored output, or the reason why the download failed. Throws the errors of `keep`. */
async function fetchOne<Kept>(
  address: string,
  generated: UpstreamOutputs,
  { medium, signal, keep }: Pick<Options<Kept>, 'medium' | 'signal' | 'keep'>,
): Promise<{ kept: Kept } | { failure: AppError }> {
  for (let tries = 1; ; tries += 1) {
    const { bytes, hasFailed } = download(new URL(address), generated, { medium, signal });
    try {
      return { kept: await keep(bytes) };
    } catch (error) {
      if (error instanceof BadMedia)
        return {
          failure: undelivered(generated, `the file it returned is not a complete ${medium.noun}`, {
            cause: error,
          }),
        };
      if (!hasFailed()) throw error;
      if (tries === TRIES || signal.aborted)
        return {
          failure: undelivered(generated, `its ${medium.noun} could not be fetched`, {
            cause: error,
            ...(isOutOfReach(error) && { retryAfterMs: FETCH_AGAIN_MS }),
          }),
        };
    } finally {
      bytes.destroy();
    }
  }
}

function undelivered(
  { title }: UpstreamOutputs,
  what: string,
  options: { cause: unknown; retryAfterMs?: number },
): AppError {
  return unavailable(`${title} generated it, but ${what}`, options);
}

/**
 * True if the download may succeed later: only temporary errors have a cause. A dead or internal address has
 * none.
 */
function isOutOfReach(error: unknown): boolean {
  return error instanceof AppError && error.cause !== undefined;
}

/**
 * Downloads the file at an address. `hasFailed` tells a failed download from a failed consumer of the stream.
 */
function download(
  address: URL,
  { serviceUrl, headers }: Pick<UpstreamOutputs, 'serviceUrl' | 'headers'>,
  { medium, signal }: Pick<Options<unknown>, 'medium' | 'signal'>,
): { bytes: Readable; hasFailed: () => boolean } {
  // The operator configured the service, so its own origin may be internal; other addresses may not.
  const isOwn = address.origin === new URL(serviceUrl).origin;
  const options = {
    // Error messages use this noun, because the address was not a request parameter.
    param: medium.noun,
    ...{ signal, limitMs: medium.fetchMsMax, accept: medium.noun === 'video' ? 'video/*' : 'image/*' },
    ...(isOwn && { isAllowed: () => true, headers }),
  };
  let hasFailed = false;
  const pieces = async function* () {
    try {
      yield* await fetchPublic(address, options);
    } catch (error) {
      // An error of the consumer destroys the stream before it arrives here.
      hasFailed = !bytes.destroyed;
      throw error;
    }
  };
  const bytes = Readable.from(pieces(), { objectMode: false });
  return { bytes, hasFailed: () => hasFailed };
}
