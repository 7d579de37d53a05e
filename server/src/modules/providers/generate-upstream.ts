import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { GeneratorName } from '@bakehouse/contract/generators';
import type { ParameterValue } from '@bakehouse/contract/generators/parameters/parameters';
import type { Config } from '../../config.ts';
import type { Clock } from '../../platform/clock.ts';
import { fairQueue } from '../../platform/concurrency/fair-queue.ts';
import { isDatabaseAway } from '../../platform/db/errors/is-database-away.ts';
import { AppError } from '../../platform/errors.ts';
import type { Handle, Look, Service, ServicePicture, ServiceRequest } from './service.ts';
import { UnansweredCall } from './services/call-service.ts';
import { type ServiceName, services } from './services/services.ts';
import { type UpstreamModel, upstreamModels } from './upstream-models.ts';

/**
 * A job that was begun at a service. Whoever has its handle finds its pictures again, and begins no second one; the handle
 * is null while the submission is waited for.
 */
export type UpstreamJob = { service: ServiceName; handle: Handle | null; begunAt: string };
type SubmittedJob = UpstreamJob & { handle: Handle };

type Asked = {
  generator: GeneratorName;
  /** The model's name at its service. */
  model: string;
  prompt: string;
  parameters: Readonly<Record<string, ParameterValue>>;
  /** What it edits; null where it edits nothing. Read where the job is begun alone. */
  readPicture: () => Promise<ServicePicture | null>;
};

type Run = {
  config: Pick<Config, 'upstreams'>;
  clock: Clock;
  /** What was begun before; null begins. */
  job: UpstreamJob | null;
  /** Keeps a job before it is submitted, and before it is waited for, and forgets it once it has failed. */
  keepJob: (job: UpstreamJob | null) => Promise<void>;
  onWait: (wait: { reason: string; isGenerating: boolean }) => void;
  signal: AbortSignal;
};

const LOOK_EVERY_MS = 700;
/** A service that does not answer is left alone for so long. */
const LOOK_AGAIN_MS = 3_000;
/** Queues of services are long at times; nobody looks at a picture that takes longer. */
const GENERATION_MS_MAX = 10 * 60_000;
/** A job of which nobody answers may be done, and is paid for: it is given up later, and not before it was asked for for some minutes. */
const UNANSWERED_MS_MAX = 20 * 60_000;
const SILENCE_MS_MAX = 5 * 60_000;
/** A submission that only begins a job is not broken off; whoever ends waits so long for it. */
const SUBMISSION_MS_MAX = 20_000;
const KEEP_TRIES = 10;
const KEEP_AGAIN_MS = 1_000;

/** Pictures that are sent at once, to all services and to each: one of 20 MB takes up several times as much until it is there. */
const sending = fairQueue(8, { perKey: 4 });

/** Where a service has put what it has generated. */
export type UpstreamPictures = {
  addresses: string[];
  /** The service's name, and where it answers itself. */
  title: string;
  serviceUrl: string;
};

/**
 * Has a service generate, and says where the pictures are, for a while. Throws AppError 'invalid_request' for what the service refuses,
 * 'internal' for what only the operator can mend, 'unavailable' and 'timed_out' for what may go better another time (where it may be
 * paid for already, `shouldRetry` is false); what `keepJob` throws; or the signal's reason.
 */
export async function generateUpstream(asked: Asked, run: Run): Promise<UpstreamPictures> {
  const model = requireModel(asked);
  const { title, open } = services[model.service];
  const access = run.config.upstreams[model.service];
  if (!access) throw new AppError('internal', { publicMessage: `${title} is not connected any more` });
  const addresses = await generateAt(open({ ...access, clock: run.clock }), model, asked, run);
  if (addresses.length === 0)
    throw new AppError('unavailable', { publicMessage: `${title} returned no picture` });
  return { addresses, title, serviceUrl: access.url };
}

function requireModel({ generator, model }: Asked): UpstreamModel {
  const models: Partial<Record<GeneratorName, readonly UpstreamModel[]>> = upstreamModels;
  const found = models[generator]?.find((one) => one.model === model);
  if (!found) throw new AppError('internal', { publicMessage: `${model} is not served any more` });
  return found;
}

/** The addresses of the pictures. */
async function generateAt(service: Service, model: UpstreamModel, asked: Asked, run: Run): Promise<string[]> {
  const { job: kept, keepJob, onWait, signal } = run;
  if (kept && isSubmitted(kept)) return awaitJob(service, kept, run);
  // A process that died while it submitted has left it: what was begun then, nobody finds.
  if (kept) await keepJob(null);
  const begin = () => beginJob(service, model, asked, run);
  if (!model.picture) return awaitJob(service, await begin(), run);
  const { title } = services[model.service];
  onWait({ reason: `Waiting to send the picture to ${title}`, isGenerating: false });
  return awaitJob(service, await sending.run(model.service, begin, signal), run);
}

async function beginJob(
  service: Service,
  model: UpstreamModel,
  asked: Asked,
  run: Run,
): Promise<SubmittedJob> {
  const { clock, keepJob, onWait } = run;
  const { title } = services[model.service];
  const picture = await pictureInput(service, model, asked, run);
  const request = { model: model.model, input: { ...inputOf(model, asked), ...picture } };
  if (service.generatesAtSubmission) onWait({ reason: `${title} is generating it`, isGenerating: true });
  // From here on it may cost something there, which whoever cancels it has to know.
  const begunAt = clock.now().toISOString();
  await keepJob({ service: model.service, handle: null, begunAt });
  const job = { service: model.service, handle: await submit(service, model, request, run), begunAt };
  await keepBegun(keepJob, job, title);
  return job;
}

/** What has begun and stands nowhere is not begun again, and paid for twice: a short outage of the database is waited for. */
async function keepBegun(keepJob: Run['keepJob'], job: SubmittedJob, title: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await keepJob(job);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      if (tries === KEEP_TRIES) throw inDoubt(title, error);
    }
    await pause(KEEP_AGAIN_MS);
  }
}

function isSubmitted(job: UpstreamJob): job is SubmittedJob {
  return job.handle !== null;
}

async function submit(
  service: Service,
  model: UpstreamModel,
  request: ServiceRequest,
  { keepJob, signal }: Run,
): Promise<Handle> {
  const { title } = services[model.service];
  // A submission is not broken off where it only begins a job: begun and not known, it could not be found again.
  const submission = service.submit(request, signal).catch((error: unknown) => {
    if (error instanceof UnansweredCall) throw inDoubt(title, error);
    throw isGone(error) ? notOffered(title, model, error) : error;
  });
  try {
    return await understood(title, Promise.race([submission, longAfter(signal, title)]), signal);
  } catch (error) {
    // How it ended decides whether it is sent again, though the database is away by now.
    await keepJob(null).catch((lost: unknown) => {
      if (!isDatabaseAway(lost)) throw lost;
    });
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof AppError && error.code === 'gone';
}

/** Rejects a while after the signal. A large picture takes longer over a slow line than a server that stops may. */
async function longAfter(signal: AbortSignal, title: string): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  await once(AbortSignal.timeout(SUBMISSION_MS_MAX), 'abort');
  throw inDoubt(title, signal.reason);
}

/** What was begun all the same would be paid for twice: who asked for it decides whether it is asked for again. */
function inDoubt(title: string, cause: unknown): AppError {
  const publicMessage = `${title} did not confirm that it had started on this picture. You can generate it again`;
  return new AppError('unavailable', { publicMessage, shouldRetry: false, cause });
}

/** What cannot be begun at all: asked again, it could not either. */
function notOffered(title: string, { model }: UpstreamModel, cause: unknown): AppError {
  const publicMessage = `${title} does not offer ${model} to this server's account. Please tell its operator`;
  return new AppError('internal', { publicMessage, cause });
}

/** A job that was begun and cannot be read is not found again, and its next attempt would be paid again: it is the last. */
async function understood<Answer>(
  title: string,
  answer: Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AppError || (signal.aborted && error === signal.reason)) throw error;
    const publicMessage = `${title} answered in a way that this server does not understand. Please tell its operator`;
    throw new AppError('internal', { publicMessage, cause: error });
  }
}

/** What the service is told. Pure. */
function inputOf({ fields, always }: UpstreamModel, { prompt, parameters }: Asked): Record<string, unknown> {
  const chosen = Object.entries(fields).map(([name, say]) => say(parameters[name] ?? null));
  return Object.assign({ prompt }, ...chosen, always);
}

/** What the service is told of the picture that it edits. Throws what reading and uploading it throw. */
async function pictureInput(
  service: Service,
  { service: name, picture: say }: UpstreamModel,
  { readPicture }: Asked,
  { onWait, signal }: Run,
): Promise<Record<string, unknown>> {
  const picture = say && (await readPicture());
  if (!picture) return {};
  const { title } = services[name];
  onWait({ reason: `Sending the picture to ${title}`, isGenerating: false });
  if (service.upload) return say(await understood(title, service.upload(picture, signal), signal));
  return say(`data:${picture.mediaType};base64,${picture.bytes.toString('base64')}`);
}

async function awaitJob(service: Service, job: SubmittedJob, run: Run): Promise<string[]> {
  const { title } = services[job.service];
  const { clock, keepJob, onWait, signal } = run;
  let isGenerating = false;
  let silentSince: number | null = null;
  for (;;) {
    const look = await lookAt(service, job, run);
    if (look.state === 'done') return look.pictures;
    if (look.state === 'failed') {
      await keepJob(null);
      throw look.error;
    }
    const now = clock.now().getTime();
    silentSince = look.isGenerating === undefined ? (silentSince ?? now) : null;
    const msMax = silentSince === null ? GENERATION_MS_MAX : UNANSWERED_MS_MAX;
    const wasAsked = silentSince === null || now - silentSince > SILENCE_MS_MAX;
    if (now - Date.parse(job.begunAt) > msMax && wasAsked) {
      const isWithdrawn = (await cancelAt(service, job)) && look.isGenerating === false;
      await keepJob(null);
      throw new AppError('timed_out', {
        publicMessage: `${title} did not finish within ${msMax / 60_000} minutes`,
        // What has begun is paid for, though nobody waits for it.
        shouldRetry: isWithdrawn,
      });
    }
    isGenerating = look.isGenerating ?? isGenerating;
    onWait({ reason: look.reason, isGenerating });
    await pause(look.lookAgainMs ?? LOOK_EVERY_MS, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }
}

/** Whether the service takes the cancel. */
async function cancelAt({ cancel }: Service, { handle }: SubmittedJob): Promise<boolean> {
  return (
    cancel !== undefined &&
    cancel(handle).then(
      () => true,
      () => false,
    )
  );
}

async function lookAt(service: Service, { handle }: SubmittedJob, { keepJob, signal }: Run): Promise<Look> {
  try {
    return await service.look(handle, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    // Whoever is asked does not answer; what was begun is generated, and paid for, all the same.
    if (error.code === 'unavailable') {
      const reason = `${error.publicMessage}. Trying again`;
      return { state: 'waiting', reason, lookAgainMs: error.retryAfterMs ?? LOOK_AGAIN_MS };
    }
    // Nobody finds it any more: the next attempt begins another one.
    if (isGone(error)) await keepJob(null);
    throw error;
  }
}
