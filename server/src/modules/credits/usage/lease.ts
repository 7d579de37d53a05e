import { randomUUID } from 'node:crypto';
import type { Database } from '../../../platform/db/database.ts';
import { endLease, LEASE_LEFT_MS, LEASE_MS, renewLease } from './usage-queries.ts';

/** Sooner than what is left at least. */
const RENEW_MS = LEASE_LEFT_MS - 2_000;

/** The lease under which a process leads its windows: while it lasts nobody else closes them. */
export class Lease {
  leaderId = randomUUID();
  private until = Number.NEGATIVE_INFINITY;
  private renewedAt = Number.NEGATIVE_INFINITY;

  isOver(): boolean {
    return performance.now() > this.until;
  }

  /** A window was opened, which took the lease or made it longer; that began at `begunAt`. */
  lastsFrom(begunAt: number): void {
    this.until = Math.max(this.until, begunAt + LEASE_LEFT_MS);
  }

  /** Makes it longer where it is time. False where it was lost. */
  async renew(db: Database): Promise<boolean> {
    const { leaderId } = this;
    const begunAt = performance.now();
    if (begunAt - this.renewedAt < RENEW_MS) return true;
    const isRenewed = await renewLease(db, leaderId);
    // Lost and begun anew meanwhile: the answer says nothing of this one.
    if (leaderId !== this.leaderId) return true;
    if (!isRenewed) return false;
    this.until = Math.max(this.until, begunAt + LEASE_MS);
    this.renewedAt = begunAt;
    return true;
  }

  /** The process leads as another one from now on. */
  beginAnew(): void {
    this.leaderId = randomUUID();
  }

  end(db: Database): Promise<void> {
    return endLease(db, this.leaderId);
  }
}
