import type { Clock } from '../../platform/clock.ts';
import type { AppError } from '../../platform/errors.ts';

/** What a service is asked for: one of its models, and what that takes, by the service's own names. */
export type ServiceRequest = { model: string; makes: 'image' | 'video'; input: Record<string, unknown> };

/** A picture that is edited. */
export type ServicePicture = { bytes: Buffer; mediaType: string };

/** How a job is found again at its service, in the service's own words. */
export type Handle = Record<string, string>;

/** How a job stands. */
export type Look =
  /** It is looked at again, later than usual where that is said. Whether its turn has come stays unsaid where nobody answers. */
  | { state: 'waiting'; reason: string; isGenerating?: boolean; lookAgainMs?: number }
  | { state: 'done'; outputs: string[] }
  /** It has ended for good: asked again, it is a new job. */
  | { state: 'failed'; error: AppError };

/** A service that generates for money. Outputs are addresses, which die after a while. */
export type Service = {
  /** What it generates while its submission is waited for. */
  generatesAtSubmission?: ServiceRequest['makes'];
  /** Sent along where an output lies at the service itself. */
  outputHeaders?: Readonly<Record<string, string>>;
  /** Takes a picture that it is to edit, and says by which address it knows it; one that has none reads `data:` URLs. */
  upload?: (picture: ServicePicture, signal: AbortSignal) => Promise<string>;
  /** Throws AppError; after an UnansweredCall it may have been begun all the same. */
  submit: (request: ServiceRequest, signal: AbortSignal) => Promise<Handle>;
  look: (handle: Handle, signal: AbortSignal) => Promise<Look>;
  /** Where the service knows a cancel: what has not begun is taken out of its queue, and what has begun may be generated, and paid for, to the end. */
  cancel?: (handle: Handle) => Promise<void>;
};

/** The key of an installation, where the service answers, and by which clock it is told when to come back. */
export type Access = { key: string; url: string; clock: Clock };
