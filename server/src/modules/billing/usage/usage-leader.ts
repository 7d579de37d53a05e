import { randomUUID } from 'node:crypto';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import type { Services } from '../../../platform/context.ts';
import { unavailable } from '../../../platform/errors.ts';
import { announceChange } from '../../../platform/events/publish-change.ts';
import { revenueAccount, userAccount } from '../ledger/accounts.ts';
import { isCreditExhausted } from '../ledger/holds/holds.ts';
import { acquireHold, keyOf, type Usage } from './credit.ts';
import { EventWriter } from './event-writer.ts';
import { endLease, growHoldNow, openWindowRow, renewLease, type UsageEvent } from './usage-queries.ts';
import {
  closeWindow,
  extendReservation,
  firstHoldMicro,
  growth,
  headroomMicro,
  isDue,
  isOver,
  openWindow,
  reserve,
  settle,
  type Window,
} from './usage-window.ts';

/**
 * How long a hold is valid: longer than its window's hour plus the longest answer. Its expiry is never
 * extended.
 */
const HOLD_MS = 3 * 60 * 60_000;

const LOOK_MS = 1_000;

/** Maximum windows to close in parallel. Only one per user, because a user's windows share an account. */
const CLOSED_AT_ONCE = 4;

/** Maximum unwritten events plus open reservations, which is what a crash can lose. */
const UNWRITTEN_MAX = 2_000;

export type Used = Omit<UsageEvent, 'n'>;

/** An amount of a window's hold that is reserved for one use. */
export type Reservation = {
  windowId: string;
  readonly priceMicro: bigint;
  /**
   * Raises the reservation to this price. Throws the errors of `reserve`, and then leaves the reservation
   * unchanged.
   */
  extend: (priceMicro: bigint) => Promise<void>;
  /**
   * Ends the reservation. Call it once: with the usage, which costs at most the reserved price, or with null
   * if nothing was used.
   */
  settle: (used: Used | null) => void;
};

type OpenWindow = {
  id: string;
  /** Empty if the opening was not confirmed, so that it is unknown whether a hold exists. */
  holdId: string;
  usage: Usage;
  window: Window;
  state: 'open' | 'ending';
  /** The running growth of the hold. The next growth waits for it. */
  growing: Promise<void>;
  closing: Promise<void> | null;
};

/**
 * Leads the usage windows of this process. They exist in memory, each with its hold, and usage is written in
 * batches.
 *
 *     reserve           over, idle, closed on request,
 *       |               or its hold has ended                no reservation is open,
 *       v                                                    all events are written
 *     open ------------------------------> ending ----------------------------------> closed
 *       |                                     ^  |
 *       | opening unconfirmed, or the         |  | closed by another process:
 *       | database lost events: accepts       |  | dropped with its unwritten events
 *       +--- nothing, writes nothing ---------+  v
 *
 * The database is authoritative: it stores the last written event of each window, and a closed window accepts
 * none. The lease only shows that this process is alive. When it expires, the job
 * `credits.close-lost-windows` closes its windows.
 */
export class UsageLeader {
  private readonly services: Pick<Services, 'db' | 'pool' | 'log' | 'clock'>;
  private readonly leaderId = randomUUID();
  private readonly writer: EventWriter;
  private readonly windows = new Map<string, OpenWindow>();
  /** The window for new reservations, by `keyOf`. */
  private readonly current = new Map<string, OpenWindow>();
  private readonly opening = new Map<string, Promise<OpenWindow>>();
  private openReservations = 0;
  private isStopped = false;

  constructor(services: Pick<Services, 'db' | 'pool' | 'log' | 'clock'>) {
    this.services = services;
    this.writer = new EventWriter(services, {
      leaderId: this.leaderId,
      onWritten: (windowId) => this.announce(windowId),
      onLost: (windowId) => {
        services.log.warn({ window_id: windowId }, 'usage window was closed by another process');
        this.deleteWindow(windowId);
      },
      onGap: (windowId, missing) => {
        services.log.error(
          { window_id: windowId, missing: Number(missing) },
          'database lost events of a usage window; closing it with the remaining events',
        );
        this.cutOff(windowId);
      },
    });
  }

  /**
   * Reserves the maximum cost of a use. This is immediate if the hold of an open window has enough left.
   * Otherwise it opens a window or grows its hold first. Throws AppError 'insufficient_funds',
   * 'budget_exceeded' or 'unavailable'.
   */
  async reserve(usage: Usage): Promise<Reservation> {
    if (this.openReservations + this.writer.waiting() >= UNWRITTEN_MAX) {
      throw unavailable('The server is overloaded. Try again in a moment');
    }
    const key = keyOf(usage);
    for (;;) {
      const open = this.current.get(key) ?? (await this.openOnce(usage));
      if (this.current.get(key) !== open) continue;
      const reserved = reserve(open.window, usage.priceMicro, this.nowMs());
      if (reserved) {
        open.window = reserved;
        this.openReservations += 1;
        return this.reservationIn(open, usage.priceMicro);
      }
      await this.grow(open, usage.priceMicro);
    }
  }

  /** Closes windows without open reservations, of one user or of all users. Returns how many it closed. */
  async closeIdle(userId?: string): Promise<number> {
    const idle = [...this.current.values()].filter(
      ({ window, usage }) => window.open === 0 && (userId === undefined || usage.userId === userId),
    );
    for (const open of idle) this.endTaking(open);
    await this.closeEnding(userId);
    return idle.filter(({ id }) => !this.windows.has(id)).length;
  }

  /** Closes due windows and renews the lease, until `close`. */
  start(): void {
    this.repeat(() => this.look());
    // Renew the lease in its own loop, so that a slow close does not delay it.
    this.repeat(async () => {
      if (this.windows.size > 0) await renewLease(this.services.db, this.leaderId);
    });
  }

  private repeat(work: () => Promise<void>): void {
    setTimeout(() => {
      if (this.isStopped) return;
      work()
        .catch((error: unknown) => this.services.log.warn({ err: error }, 'failed to maintain usage windows'))
        .finally(() => this.repeat(work));
    }, LOOK_MS).unref();
  }

  /** Closes due windows. A failed close is retried at the next look. */
  async look(): Promise<void> {
    const nowMs = this.nowMs();
    for (const open of this.current.values())
      if (isOver(open.window, nowMs) || isDue(open.window, nowMs)) this.endTaking(open);
    await this.closeEnding();
  }

  /**
   * Writes and closes all windows, and ends the lease. If a window could not be closed, another process
   * closes it.
   */
  async close(): Promise<void> {
    this.isStopped = true;
    for (const open of this.current.values()) this.endTaking(open);
    await this.closeEnding();
    this.writer.stop();
    await endLease(this.services.db, this.leaderId).catch((error: unknown) =>
      this.services.log.warn({ err: error }, 'failed to end the lease of the usage windows'),
    );
  }

  private openOnce(usage: Usage): Promise<OpenWindow> {
    const key = keyOf(usage);
    const known = this.opening.get(key) ?? this.open(usage).finally(() => this.opening.delete(key));
    this.opening.set(key, known);
    return known;
  }

  private async open(usage: Usage): Promise<OpenWindow> {
    const id = randomUUID();
    let heldMicro = 0n;
    const { hold_id: holdId } = await acquireHold({
      wantedMicro: firstHoldMicro(usage.priceMicro),
      leastMicro: usage.priceMicro,
      makeRoom: async () => (await this.closeIdle(usage.userId)) > 0,
      attempt: (amountMicro) => {
        heldMicro = amountMicro;
        return this.insert(usage, id, amountMicro);
      },
    }).catch((error: unknown) => {
      // It is unknown whether the row exists, so close it like an existing window.
      if (!isCreditExhausted(error)) this.add({ id, holdId: '', usage, heldMicro: 0n, state: 'ending' });
      throw error;
    });
    const open = this.add({ id, holdId, usage, heldMicro, state: 'open' });
    this.current.set(keyOf(usage), open);
    this.announce(id);
    return open;
  }

  private add({
    heldMicro,
    ...row
  }: Pick<OpenWindow, 'id' | 'holdId' | 'usage' | 'state'> & { heldMicro: bigint }): OpenWindow {
    const window = openWindow(heldMicro, this.nowMs());
    const open: OpenWindow = { ...row, window, growing: Promise.resolve(), closing: null };
    this.windows.set(open.id, open);
    return open;
  }

  private insert(usage: Usage, id: string, amountMicro: bigint) {
    const { userId, keyId } = usage;
    return openWindowRow(this.services, {
      id,
      leaderId: this.leaderId,
      userId,
      keyId,
      source: usage.source,
      at: this.services.clock.now(),
      debitAccountId: userAccount(userId),
      creditAccountId: revenueAccount(usage.use),
      amountMicro,
      description: usage.description,
      references: { ...usage.references, usage_window_id: id, ...(keyId && { key_id: keyId }) },
      expiresAt: new Date(this.nowMs() + HOLD_MS),
    });
  }

  /**
   * Grows the hold for a price. Growths of a window run one after the other, and each first checks whether an
   * earlier one is already enough. With `ahead`, also grows the hold for later answers.
   */
  private grow(open: OpenWindow, priceMicro: bigint, { ahead } = { ahead: true }): Promise<void> {
    const turn = open.growing.then(async () => {
      const nowMs = this.nowMs();
      if (reserve(open.window, priceMicro, nowMs) !== null) return;
      const { leastMicro, wantedMicro } = growth(open.window, priceMicro, nowMs);
      const { outcome, amount } = await acquireHold({
        leastMicro,
        wantedMicro: ahead ? wantedMicro : leastMicro,
        makeRoom: async () => (await this.closeIdle(open.usage.userId)) > 0,
        attempt: (byMicro) => growHoldNow(this.services, { holdId: open.holdId, byMicro }),
      });
      if (outcome === 'ok' && amount !== null) {
        open.window = { ...open.window, heldMicro: amount };
        this.announce(open.id);
      } else this.endTaking(open);
    });
    open.growing = turn.catch(() => undefined);
    return turn;
  }

  /**
   * Raises an open reservation. This also works in an ending window, until its last reservation is settled.
   */
  private async widen(open: OpenWindow, byMicro: bigint): Promise<void> {
    for (;;) {
      const widened = extendReservation(open.window, byMicro, this.nowMs());
      if (widened) {
        open.window = widened;
        return;
      }
      const { heldMicro } = open.window;
      await this.grow(open, byMicro, { ahead: false });
      if (open.window.heldMicro === heldMicro && headroomMicro(open.window) < byMicro)
        throw unavailable('The hold for this answer has expired. Try again');
    }
  }

  private reservationIn(open: OpenWindow, firstMicro: bigint): Reservation {
    let isOpen = true;
    let priceMicro = firstMicro;
    return {
      windowId: open.id,
      get priceMicro() {
        return priceMicro;
      },
      extend: async (toMicro) => {
        if (toMicro <= priceMicro) return;
        await this.widen(open, toMicro - priceMicro);
        priceMicro = toMicro;
      },
      settle: (used) => {
        if (!isOpen) throw new Error(`A reservation in usage window ${open.id} was settled twice`);
        isOpen = false;
        this.openReservations -= 1;
        const amountMicro = used?.amountMicro ?? null;
        open.window = settle(open.window, { priceMicro, amountMicro }, this.nowMs());
        if (used && this.windows.get(open.id) === open)
          this.writer.add(open.id, { n: open.window.events, ...used });
      },
    };
  }

  /** Closes ending windows without open reservations, of a user or of all. */
  private async closeEnding(userId?: string): Promise<void> {
    const line = fairQueue(CLOSED_AT_ONCE, { perKey: 1 });
    let hasFailed = false;
    const ending = [...this.windows.values()].filter(
      ({ state, window, usage }) =>
        state === 'ending' && window.open === 0 && (userId === undefined || usage.userId === userId),
    );
    const closeNext = async (open: OpenWindow) => {
      // When the process stops and the database is unreachable, do not wait for it again for every window.
      if (hasFailed && this.isStopped) return;
      open.closing ??= this.closeOne(open).finally(() => {
        open.closing = null;
      });
      await open.closing.catch((error: unknown) => {
        hasFailed = true;
        this.services.log.warn({ err: error, window_id: open.id }, 'failed to close usage window');
      });
    };
    await Promise.all(ending.map((open) => line.run(open.usage.userId, () => closeNext(open))));
  }

  private async closeOne({ id }: OpenWindow): Promise<void> {
    await this.writer.flush(id);
    if (this.writer.waiting(id) > 0 || !this.windows.has(id)) return;
    await closeWindow(this.services, { windowId: id, leaderId: this.leaderId });
    this.announce(id);
    this.deleteWindow(id);
  }

  private endTaking(open: OpenWindow): void {
    open.state = 'ending';
    const key = keyOf(open.usage);
    if (this.current.get(key) === open) this.current.delete(key);
  }

  private deleteWindow(windowId: string): void {
    const open = this.windows.get(windowId);
    if (!open) return;
    this.endTaking(open);
    this.windows.delete(windowId);
  }

  /** Stops all writes to the window, also for its open reservations. The next look closes the window. */
  private cutOff(windowId: string): void {
    const open = this.windows.get(windowId);
    if (!open) return;
    this.deleteWindow(windowId);
    this.add({ ...open, heldMicro: 0n, state: 'ending' });
  }

  private announce(windowId: string): void {
    const userId = this.windows.get(windowId)?.usage.userId;
    if (userId) announceChange(this.services.db, userId, { topic: 'balance', id: userId });
  }

  private nowMs(): number {
    return this.services.clock.now().getTime();
  }
}
