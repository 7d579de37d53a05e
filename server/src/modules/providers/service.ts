import type { Clock } from '../../platform/clock.ts';
import type { AppError } from '../../platform/errors.ts';

/** A request to a service: a model and its input, in the service's terms. */
export type ServiceRequest = { model: string; makes: 'image' | 'video'; input: Record<string, unknown> };

/** A picture to edit. */
export type ServicePicture = { bytes: Buffer; mediaType: string };

/** Identifies a job at its service, in the service's terms. */
export type Handle = Record<string, string>;

/** State of a job. */
export type JobStatus =
  /** Poll again, after `lookAgainMs` if set. `isGenerating` is undefined if the service did not answer. */
  | { state: 'waiting'; reason: string; isGenerating?: boolean; lookAgainMs?: number }
  | { state: 'done'; outputs: string[] }
  /** Final: a retry needs a new job. */
  | { state: 'failed'; error: AppError };

/** A paid generation service. Output addresses expire after a while. */
export type Service = {
  /** Kinds that the service generates within the submission call. */
  generatesAtSubmission?: ServiceRequest['makes'];
  /** Headers for downloading outputs from the service. */
  outputHeaders?: Readonly<Record<string, string>>;
  /** Uploads a picture to edit and returns its address. Services without it accept `data:` URLs. */
  upload?: (picture: ServicePicture, signal: AbortSignal) => Promise<string>;
  /** Throws AppError. After an UnansweredCall the job may have started anyway. */
  submit: (request: ServiceRequest, signal: AbortSignal) => Promise<Handle>;
  look: (handle: Handle, signal: AbortSignal) => Promise<JobStatus>;
  /** Cancels a job. Queued jobs are removed; started jobs may still finish and be charged. */
  cancel?: (handle: Handle) => Promise<void>;
};

/** The installation's API key, the service's address, and the clock for Retry-After. */
export type Access = { key: string; url: string; clock: Clock };
