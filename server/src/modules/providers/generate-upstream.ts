import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { GeneratorName } from '@bakehouse/contract/generators';
import type { ParameterValue } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import type { Config } from '../../config.ts';
import type { Clock } from '../../platform/clock.ts';
import { fairQueue } from '../../platform/concurrency/fair-queue.ts';
import { isDatabaseAway } from '../../platform/db/errors/database-errors.ts';
import { AppError, internalError, timedOut, unavailable } from '../../platform/errors.ts';
import type { UpstreamModel, VideoOptions } from './field-mappers.ts';
import { findUpstreamModel } from './find-upstreams.ts';
import type { Handle, JobStatus, Service, ServicePicture, ServiceRequest } from './service.ts';
import { UnansweredCall } from './services/call-service.ts';
import { services } from './services/services.ts';
import { isSubmitted, type SubmittedJob, type UpstreamJob } from './upstream-job.ts';

type Asked = {
  generator: GeneratorName;
  /** Model name at the service. */
  model: string;
  prompt: string;
  parameters: Readonly<Record<string, ParameterValue>>;
  wishes?: VideoOptions;
  /**
   * Reads the picture to edit; null if there is none. Called only if a job is submitted, because a picture is
   * large.
   */
  readPicture: () => Promise<ServicePicture | null>;
};

type Run = {
  config: Pick<Config, 'upstreams'>;
  clock: Clock;
  /** A job from an earlier attempt; null starts a new one. */
  job: UpstreamJob | null;
  /**
   * Stores the job: before its submission without a handle, and after it with the handle. Null deletes it.
   */
  keepJob: (job: UpstreamJob | null) => Promise<void>;
  onWait: (wait: { reason: string; isGenerating: boolean }) => void;
  /** How long the service may take, including its queue. */
  msMax: number;
  signal: AbortSignal;
};

/** The service and the model of one attempt. */
type Place = { service: Service; model: UpstreamModel; title: string; makes: ServiceRequest['makes'] };

/** Addresses of the generated files. */
export type UpstreamOutputs = {
  addresses: string[];
  /** Service name, and its own API address. */
  title: string;
  serviceUrl: string;
  /** Headers for downloading the outputs. */
  headers: Readonly<Record<string, string>>;
};

const CHECK_EVERY_MS = 700;
/** Pause before polling a service again that did not answer. */
const LOOK_AGAIN_MS = 3_000;
/**
 * A job may be done and charged although its service does not answer. It is abandoned only after twice the
 * time limit, plus this time.
 */
const SILENCE_MS_MAX = 5 * 60_000;
/** How long a process that shuts down waits for the answer to a submission. */
const SUBMISSION_MS_MAX = 20_000;
const KEEP_TRIES = 10;
const KEEP_AGAIN_MS = 1_000;

/**
 * Limits concurrent uploads of pictures, in total and per service. A 20 MB picture takes several times its
 * size in memory.
 */
const sending = fairQueue(8, { perKey: 4 });

/**
 * Generates at a service and returns the addresses of the outputs, which expire. `UpstreamJob` describes the
 * states. Throws AppError 'invalid_request' for refused input, 'internal' for errors that only the operator
 * can fix, and 'unavailable' or 'timed_out' for temporary errors, with `shouldRetry` false if the job may
 * have been charged. Also throws the errors of `keepJob`, and the signal's reason.
 */
export async function generateUpstream(asked: Asked, run: Run): Promise<UpstreamOutputs> {
  const model = findUpstreamModel(asked.generator, asked.model);
  if (!model) throw internalError(`${asked.model} is no longer served`);
  const { title, open } = services[model.service];
  const access = run.config.upstreams[model.service];
  if (!access) throw internalError(`${title} is no longer connected`);
  const { makes } = generators[asked.generator];
  const place = { service: open({ ...access, clock: run.clock }), model, title, makes };
  const { job } = run;
  const submitted = job && isSubmitted(job) ? job : await beginInTurn(place, asked, run);
  const addresses = await awaitOutputs(place, submitted, run);
  if (addresses.length === 0) throw unavailable(`${title} returned no ${nounOf(makes)}`);
  return { addresses, title, serviceUrl: access.url, headers: place.service.outputHeaders ?? {} };
}

/** Submits a job. A job with a picture waits for an upload slot. */
async function beginInTurn(place: Place, asked: Asked, run: Run): Promise<SubmittedJob> {
  // The process that stored it died during the submission.
  if (run.job) await run.keepJob(null);
  if (!place.model.picture) return begin(place, asked, run);
  run.onWait({ reason: `Waiting to send the picture to ${place.title}`, isGenerating: false });
  return sending.run(place.model.service, () => begin(place, asked, run), run.signal);
}

async function begin(
  place: Place,
  asked: Asked,
  { clock, keepJob, onWait, signal }: Run,
): Promise<SubmittedJob> {
  const { service, model, title, makes } = place;
  const picture = await pictureInput(place, asked, { onWait, signal });
  const named = (picture && model.pictureModel) ?? model.model;
  const request = { model: named, makes, input: { ...inputOf(model, asked, picture !== null), ...picture } };
  if (service.generatesAtSubmission === makes)
    onWait({ reason: `${title} is generating it`, isGenerating: true });
  // Store the job before its submission. From now on it may be charged, and a cancel must find it.
  const submitting = { service: model.service, begunAt: clock.now().toISOString() };
  await keepJob({ ...submitting, handle: null });
  let handle: Handle;
  try {
    handle = await submit(place, request, signal);
  } catch (error) {
    // Throw the original error, which decides about a retry, even if the database is unreachable now.
    await keepJob(null).catch((lost: unknown) => {
      if (!isDatabaseAway(lost)) throw lost;
    });
    throw error;
  }
  const job = { ...submitting, handle };
  await saveSubmittedJob(keepJob, job, place);
  return job;
}

/** Submits the job. If it may have started without a handle, throws an AppError that must not be retried. */
async function submit(place: Place, request: ServiceRequest, signal: AbortSignal): Promise<Handle> {
  const { service, title } = place;
  const answer = service.submit(request, signal).catch((error: unknown) => {
    if (error instanceof UnansweredCall) throw unconfirmed(place, error);
    throw isGone(error) ? notOffered(title, request.model, error) : error;
  });
  // Do not abort the submission on shutdown: without its handle, a started job would be lost.
  return readable(title, Promise.race([answer, graceAfter(signal, place)]), signal);
}

/**
 * Rejects `SUBMISSION_MS_MAX` after the signal. Uploading a large picture may take longer than a shutdown
 * may.
 */
async function graceAfter(signal: AbortSignal, place: Place): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  await once(AbortSignal.timeout(SUBMISSION_MS_MAX), 'abort');
  throw unconfirmed(place, signal.reason);
}

/** Retries during a short database outage. Without the row, the job would be submitted and charged again. */
async function saveSubmittedJob(keepJob: Run['keepJob'], job: SubmittedJob, place: Place): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await keepJob(job);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      if (tries === KEEP_TRIES) throw unconfirmed(place, error);
    }
    await pause(KEEP_AGAIN_MS);
  }
}

/** Returns the error for a job that may have started. It is not retried; the user can generate again. */
function unconfirmed({ title, makes }: Pick<Place, 'title' | 'makes'>, cause: unknown): AppError {
  const publicMessage = `${title} did not confirm that it had started on this ${nounOf(makes)}. You can generate it again`;
  return unavailable(publicMessage, { shouldRetry: false, cause });
}

function nounOf(makes: ServiceRequest['makes']): string {
  return makes === 'video' ? 'video' : 'picture';
}

function notOffered(title: string, model: string, cause: unknown): AppError {
  const publicMessage = `${title} does not offer ${model} to this server's account. Please tell its operator`;
  return internalError(publicMessage, { cause });
}

/**
 * Converts a parse error to an error that ends the generation. A retry would cost money and fail in the same
 * way.
 */
async function readable<Answer>(
  title: string,
  answer: Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AppError || (signal.aborted && error === signal.reason)) throw error;
    const publicMessage = `${title} answered in a way that this server does not understand. Please tell its operator`;
    throw internalError(publicMessage, { cause: error });
  }
}

/** Returns the parameters for the service. */
function inputOf(
  { fields, always, wishes: say }: UpstreamModel,
  { prompt, parameters, wishes = {} }: Asked,
  hasPicture: boolean,
): Record<string, unknown> {
  const chosen = Object.entries(fields).map(([name, sayField]) => sayField(parameters[name] ?? null));
  return Object.assign({ prompt }, ...chosen, always, say?.(wishes, hasPicture));
}

/** Returns the parameters for the picture to edit. Throws read and upload errors. */
async function pictureInput(
  { service, model, title }: Place,
  { readPicture }: Asked,
  { onWait, signal }: Pick<Run, 'onWait' | 'signal'>,
): Promise<Record<string, unknown> | null> {
  const say = model.picture;
  const picture = say && (await readPicture());
  if (!picture) return null;
  onWait({ reason: `Sending the picture to ${title}`, isGenerating: false });
  if (service.upload) return say(await readable(title, service.upload(picture, signal), signal));
  return say(`data:${picture.mediaType};base64,${picture.bytes.toString('base64')}`);
}

/** Polls a submitted job and returns the addresses of its outputs. */
async function awaitOutputs(place: Place, job: SubmittedJob, run: Run): Promise<string[]> {
  const { clock, keepJob, onWait, signal } = run;
  let isGenerating = false;
  let silentSince: number | null = null;
  for (;;) {
    const look = await lookAt(place.service, job, run);
    if (look.state === 'done') return look.outputs;
    if (look.state === 'failed') {
      await keepJob(null);
      throw look.error;
    }
    const now = clock.now().getTime();
    silentSince = look.isGenerating === undefined ? (silentSince ?? now) : null;
    const msMax = silentSince === null ? run.msMax : 2 * run.msMax;
    const isSilentLong = silentSince === null || now - silentSince > SILENCE_MS_MAX;
    if (now - Date.parse(job.begunAt) > msMax && isSilentLong) {
      const isWithdrawn = (await tryToCancel(place.service, job)) && look.isGenerating === false;
      await keepJob(null);
      throw tooLate(place.title, msMax, isWithdrawn);
    }
    isGenerating = look.isGenerating ?? isGenerating;
    onWait({ reason: look.reason, isGenerating });
    await pause(look.lookAgainMs ?? CHECK_EVERY_MS, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }
}

/**
 * Returns the error for a job that takes too long. If the service did not accept the cancel, the job is
 * charged, so it must not be started again.
 */
function tooLate(title: string, msMax: number, isWithdrawn: boolean): AppError {
  const publicMessage = `${title} did not finish within ${msMax / 60_000} minutes`;
  return timedOut(publicMessage, { shouldRetry: isWithdrawn });
}

/** Returns true if the service accepted the cancel. */
async function tryToCancel({ cancel }: Service, { handle }: SubmittedJob): Promise<boolean> {
  if (!cancel) return false;
  return cancel(handle).then(
    () => true,
    () => false,
  );
}

async function lookAt(
  service: Service,
  { handle }: SubmittedJob,
  { keepJob, signal }: Run,
): Promise<JobStatus> {
  try {
    return await service.look(handle, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    // Keep polling a service that does not answer: the job may still run and be charged.
    if (error.code === 'unavailable') {
      const reason = `${error.publicMessage}. Trying again`;
      return { state: 'waiting', reason, lookAgainMs: error.retryAfterMs ?? LOOK_AGAIN_MS };
    }
    // The service does not know the job any more, so the next attempt submits a new one.
    if (isGone(error)) await keepJob(null);
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof AppError && error.code === 'gone';
}
