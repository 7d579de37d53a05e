/** A run to log, with its training parameters. */
export type RunToLog = {
  id: string;
  title: string;
  startedAt: Date;
  /** Team or user to log under, if the service has them; null for the key's owner. */
  entity: string | null;
  tags: string[];
  /** Parameters of base, dataset and training, by name. */
  parameters: Record<string, string | number | boolean>;
};

export type Point = { step: number; at: Date; values: Record<string, number> };

export type Outcome = 'completed' | 'failed' | 'cancelled';

/** State of a run at the service. */
export type Logged = { remoteId: string; pointsSent: number };

/**
 * An experiment tracker with its owner's key. All calls are idempotent. Throws `ServiceRefused`, `RunRefused`
 * or `ServiceUnavailable`.
 */
export type TrackingService = {
  /** Verifies the key and the project. Returns the key's owner if the service reports it. */
  check: () => Promise<string | null>;
  /** Creates the run at the service. */
  begin: (run: RunToLog) => Promise<{ remoteId: string; url: string }>;
  /** Appends points; `lastValues` has the last value of each metric. */
  log: (logged: Logged, points: Point[], lastValues: Record<string, number>) => Promise<void>;
  end: (logged: Logged, outcome: Outcome, at: Date) => Promise<void>;
};

/** The service refuses the key or its address: the owner has to save another one. */
export class ServiceRefused extends Error {
  /** The invalid field. */
  readonly param: 'api_key' | 'url';

  constructor(
    message: string,
    { param = 'api_key', cause }: { param?: 'api_key' | 'url'; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.param = param;
  }
}

/** The service refuses one run, e.g. because it was deleted there. Other runs may still be accepted. */
export class RunRefused extends Error {}

/** The service does not answer, or reports an internal error or overload. */
export class ServiceUnavailable extends Error {}
