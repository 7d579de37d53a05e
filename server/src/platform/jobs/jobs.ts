import type { Transaction } from '../db/database.ts';

/** A kind of background work: finite, retried, at least once. */
export type JobKind<Data extends object> = {
  /** `<module>.<verb>` */
  name: string;
  /** Never set: it carries the type of the data from the declaration to `enqueue`. */
  accepts?: (data: Data) => void;
};

/** Queue of finite jobs. Enqueueing joins the caller's transaction. */
export type Jobs = {
  enqueue: <Data extends object>(tx: Transaction, job: JobKind<Data>, data: Data) => Promise<void>;
};
