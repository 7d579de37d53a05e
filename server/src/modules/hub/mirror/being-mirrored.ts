import { formatBytes } from '@bakehouse/contract/labels';
import { AppError } from '../../../platform/errors.ts';
import type { CloneRow } from '../clone/clones-table.ts';

const AGAIN_MS_MIN = 2_000;
/** The hub's clients ask five times more before they give up. */
const AGAIN_MS_MAX = 300_000;

/** A repository that is being copied for everybody: the call can be answered later. */
export class BeingMirrored extends AppError {
  readonly clone: CloneRow;

  constructor(clone: CloneRow) {
    const retryAfterMs = Math.min(AGAIN_MS_MAX, Math.max(AGAIN_MS_MIN, foresee(clone)));
    super('unavailable', {
      publicMessage:
        `${clone.repo_id} is being copied from the public hub${describeProgress(clone)}. ` +
        `Try again in ${Math.ceil(retryAfterMs / 1000)} s`,
      retryAfterMs,
    });
    this.clone = clone;
  }
}

/** Milliseconds that the rest takes at the pace of the last seconds. Pure. */
function foresee({ bytes_total: total, bytes_done: done, bytes_per_second: speed }: CloneRow): number {
  return total !== null && speed ? (Number(total - done) / Number(speed)) * 1000 : 0;
}

function describeProgress({ bytes_total: total, bytes_done: done }: CloneRow): string {
  return total === null ? '' : `: ${formatBytes(Number(done))} of ${formatBytes(Number(total))} are here`;
}
