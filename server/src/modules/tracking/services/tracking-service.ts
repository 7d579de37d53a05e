/** A run as it is logged: what it is, and how it is trained. */
export type RunToLog = {
  id: string;
  title: string;
  startedAt: Date;
  /** The team or user under whom it is logged, where the service has such; null: whom the key belongs to. */
  entity: string | null;
  tags: string[];
  /** Of the base, the dataset and the training, by name. */
  parameters: Record<string, string | number | boolean>;
};

export type Point = { step: number; at: Date; values: Record<string, number> };

export type Outcome = 'completed' | 'failed' | 'cancelled';

/** What a run has there already. */
export type Logged = { remoteId: string; pointsSent: number };

/**
 * An experiment tracker with its owner's key. Each call may be repeated: it makes nothing twice. Throws `ServiceRefused`,
 * `RunRefused` or `ServiceUnavailable`.
 */
export type TrackingService = {
  /** Sees that the key and the project are accepted, and says whose the key is, where the service knows. */
  check: () => Promise<string | null>;
  /** Makes the run there. */
  begin: (run: RunToLog) => Promise<{ remoteId: string; url: string }>;
  /** Appends points behind those it has; `lastValues` has the last value of each metric. */
  log: (logged: Logged, points: Point[], lastValues: Record<string, number>) => Promise<void>;
  end: (logged: Logged, outcome: Outcome, at: Date) => Promise<void>;
};

/** The key, or the address of the service, is not accepted: its owner has to save another one. */
export class ServiceRefused extends Error {
  /** The field that is at fault. */
  readonly param: 'api_key' | 'url';

  constructor(
    message: string,
    { param = 'api_key', cause }: { param?: 'api_key' | 'url'; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.param = param;
  }
}

/** One run is not accepted, such as one that was deleted there; others may be. */
export class RunRefused extends Error {}

/** No answer, or that of a server which is broken or busy. */
export class ServiceUnavailable extends Error {}
