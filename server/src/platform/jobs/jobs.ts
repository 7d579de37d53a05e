import type { Transaction } from '../db/database.ts';

/** A kind of background work. A job is finite, is retried, and may run more than once. */
export type JobKind<Data extends object> = {
  /** `<module>.<verb>` */
  name: string;
  /** Never set. Only carries the type of the data from the declaration to `enqueue`. */
  accepts?: (data: Data) => void;
};

/** Queue of finite jobs. A job is enqueued in the caller's transaction. */
export type Jobs = {
  enqueue: <Data extends object>(tx: Transaction, job: JobKind<Data>, data: Data) => Promise<void>;
};
