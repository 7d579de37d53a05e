import { randomUUID } from 'node:crypto';
import type { Use } from '@bakehouse/contract/credits';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { announceChange } from '../../../platform/events/publish-change.ts';
import { revenueAccount, userAccount } from '../ledger/accounts.ts';
import { toBudgetExceeded } from '../ledger/holds/within-budget.ts';
import type { References } from '../ledger/transfer.ts';
import { EventWriter } from './event-writer.ts';
import { takeCredit } from './take-credit.ts';
import {
  closeWindowRow,
  endLease,
  growHoldNow,
  openWindowRow,
  renewLease,
  type UsageEvent,
} from './usage-queries.ts';
import {
  firstHoldMicro,
  growth,
  isDue,
  isNearlyUsedUp,
  isOver,
  openWindow,
  reserve,
  settle,
  type Window,
} from './window.ts';

/** A hold outlives the hour of its window and the longest answer in it; nobody makes it longer. */
const HOLD_MS = 3 * 60 * 60_000;
const LOOK_MS = 1_000;
/** As in usage_lease: a lease, and what is left at least of one after a window was opened. */
const LEASE_MS = 30_000;
const LEASE_LEFT_MS = 10_000;
const RENEW_MS = 8_000;
/** A hold that could not grow ahead of its use is left alone for so long. */
const REFUSED_MS = 10_000;
/** What a crash forgets at most: events that are not written, and reservations whose work goes on. */
export const UNWRITTEN_MAX = 2_000;

/** What is about to be used. */
export type Usage = {
  userId: string;
  keyId: string | null;
  use: Use;
  /** What is used: calls of one user and key for the same share a window. */
  source: string;
  description: string;
  references: References;
  /** Micro-BGL of its units: a window keeps the prices that it began with, and others open another one. */
  unitPrices: readonly bigint[];
  /** What it can cost at most. */
  priceMicro: bigint;
};

/** What was used in the end. */
export type Used = Omit<UsageEvent, 'n'>;

/** A place in a window. */
export type Reservation = {
  windowId: string;
  priceMicro: bigint;
  /** Ends the reservation, once: with what was used, at most its price, or null where nothing was. */
  settle: (used: Used | null) => void;
};

type Led = {
  id: string;
  holdId: string;
  usage: Usage;
  window: Window;
  /** Takes nothing new any more. */
  isEnding: boolean;
  growing: Promise<void>;
  isGrowingAhead: boolean;
  refusedMs: number;
};

/**
 * Leads the usage windows of this process: they live in its memory, each on a hold of its own, and what was
 * used is written in batches. While its lease lasts nobody else closes them.
 */
export class UsageLeader {
  private readonly services: Pick<Services, 'db' | 'pool' | 'log' | 'clock'>;
  private readonly writer: EventWriter;
  private leaderId = randomUUID();
  private leaseUntil = Number.NEGATIVE_INFINITY;
  private renewedAt = Number.NEGATIVE_INFINITY;
  private readonly windows = new Map<string, Led>();
  /** Those that take what comes, by whose and what they are. */
  private readonly current = new Map<string, Led>();
  private readonly opening = new Map<string, Promise<Led>>();
  /** Windows that are not led although their opening may have been committed, by id, with their leader's. */
  private readonly doubtful = new Map<string, string>();
  private openReservations = 0;
  private closing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(services: Pick<Services, 'db' | 'pool' | 'log' | 'clock'>) {
    this.services = services;
    this.writer = new EventWriter(services, {
      leaderId: () => this.leaderId,
      onWritten: (windowId) => this.announce(this.windows.get(windowId)),
      onLost: (windowId) => {
        services.log.warn({ window_id: windowId }, 'a usage window was closed by another process');
        this.forget(this.windows.get(windowId));
      },
    });
  }

  /**
   * Reserves the highest price of what is about to be used. At once where a window has room; else the window
   * is opened, or its hold grows. Throws AppError 'insufficient_funds', 'budget_exceeded' or 'unavailable'.
   */
  async reserve(usage: Usage): Promise<Reservation> {
    if (this.openReservations + this.writer.waiting() >= UNWRITTEN_MAX) {
      throw new AppError('unavailable', {
        publicMessage: 'The server is overloaded. Try again in a moment',
      });
    }
    const key = keyOf(usage);
    for (;;) {
      if (this.windows.size > 0 && performance.now() > this.leaseUntil) this.abandon();
      const led = this.current.get(key) ?? (await this.openOnce(usage));
      if (this.current.get(key) !== led) continue;
      const reserved = reserve(led.window, usage.priceMicro, this.nowMs());
      if (reserved) {
        led.window = reserved;
        this.openReservations += 1;
        this.growAhead(led, usage.priceMicro);
        return this.reservationIn(led, usage.priceMicro);
      }
      await this.grow(led, usage.priceMicro);
    }
  }

  /** Closes the windows in which nothing goes on, of a user or of all. Answers how many. */
  async closeIdle(userId?: string): Promise<number> {
    const idle = [...this.current.values()].filter(
      ({ window, usage }) => window.open === 0 && (userId === undefined || usage.userId === userId),
    );
    for (const led of idle) this.endTaking(led);
    await this.closeEnding();
    return idle.filter(({ id }) => !this.windows.has(id)).length;
  }

  /** Looks after the windows from now on: closes those that are due, and keeps the others. */
  start(): void {
    this.timer = setTimeout(() => {
      this.look()
        .catch((error: unknown) =>
          this.services.log.warn({ err: error }, 'could not look after the usage windows'),
        )
        .finally(() => {
          if (!this.closed) this.start();
        });
    }, LOOK_MS).unref();
  }

  /** Looks after the windows once. */
  async look(): Promise<void> {
    if (this.windows.size === 0 && this.doubtful.size === 0) return;
    const leasedAt = performance.now();
    // Who leads no window may have no lease either.
    if (this.windows.size > 0 && leasedAt - this.renewedAt >= RENEW_MS) {
      if (!(await renewLease(this.services.db, this.leaderId))) return this.abandon();
      this.leaseUntil = leasedAt + LEASE_MS;
      this.renewedAt = leasedAt;
    }
    const nowMs = this.nowMs();
    for (const led of this.current.values())
      if (isOver(led.window, nowMs) || isDue(led.window, nowMs)) this.endTaking(led);
    await this.closeEnding();
  }

  /** Writes and closes what it leads. What cannot be closed now is closed by others. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    for (const led of this.current.values()) this.endTaking(led);
    await this.closeEnding();
    this.writer.stop();
    await endLease(this.services.db, this.leaderId).catch((error: unknown) =>
      this.services.log.warn({ err: error }, 'could not end the lease of the usage windows'),
    );
  }

  private openOnce(usage: Usage): Promise<Led> {
    const key = keyOf(usage);
    const known = this.opening.get(key) ?? this.open(usage).finally(() => this.opening.delete(key));
    this.opening.set(key, known);
    return known;
  }

  private async open(usage: Usage): Promise<Led> {
    const { userId, priceMicro } = usage;
    const leasedAt = performance.now();
    let [id, leaderId, heldMicro] = ['', '', 0n];
    const { hold_id: holdId } = await takeCredit({
      wantedMicro: firstHoldMicro(priceMicro),
      leastMicro: priceMicro,
      makeRoom: async () => (await this.closeIdle(userId)) > 0,
      attempt: (amountMicro) => {
        [id, leaderId, heldMicro] = [randomUUID(), this.leaderId, amountMicro];
        return this.insert(usage, { id, leaderId }, amountMicro);
      },
    });
    if (leaderId !== this.leaderId) {
      // The lease was lost meanwhile: under the new one nothing could be written in this window.
      this.doubtful.set(id, leaderId);
      await this.closeEnding();
      return this.open(usage);
    }
    this.leaseUntil = Math.max(this.leaseUntil, leasedAt + LEASE_LEFT_MS);
    const led: Led = {
      id,
      holdId,
      usage,
      window: openWindow(heldMicro, this.nowMs()),
      isEnding: false,
      growing: Promise.resolve(),
      isGrowingAhead: false,
      refusedMs: Number.NEGATIVE_INFINITY,
    };
    this.windows.set(id, led);
    this.current.set(keyOf(usage), led);
    this.announce(led);
    return led;
  }

  private async insert(
    usage: Usage,
    { id, leaderId }: Record<'id' | 'leaderId', string>,
    amountMicro: bigint,
  ) {
    const { clock } = this.services;
    const { userId, keyId } = usage;
    try {
      return await openWindowRow(this.services, {
        id,
        leaderId,
        userId,
        keyId,
        source: usage.source,
        at: clock.now(),
        debitAccountId: userAccount(userId),
        creditAccountId: revenueAccount(usage.use),
        amountMicro,
        description: usage.description,
        references: { ...usage.references, usage_window_id: id, ...(keyId && { key_id: keyId }) },
        expiresAt: new Date(this.nowMs() + HOLD_MS),
      });
    } catch (error) {
      if (toBudgetExceeded(error) === null) this.doubtful.set(id, leaderId);
      throw error;
    }
  }

  /** One at a time: whoever waited looks first whether there is room now. */
  private grow(led: Led, priceMicro: bigint): Promise<void> {
    return this.inTurn(led, async () => {
      const nowMs = this.nowMs();
      if (reserve(led.window, priceMicro, nowMs) !== null) return;
      const { outcome } = await takeCredit({
        ...growth(led.window, priceMicro, nowMs),
        makeRoom: async () => (await this.closeIdle(led.usage.userId)) > 0,
        attempt: (byMicro) => this.growBy(led, byMicro),
      });
      // Its hold has ended: the next one opens a window of its own.
      if (outcome !== 'ok') this.endTaking(led);
    });
  }

  /** Lets the hold grow before it must, so that the next one need not wait. */
  private growAhead(led: Led, priceMicro: bigint): void {
    const isResting = this.nowMs() - led.refusedMs < REFUSED_MS;
    if (led.isGrowingAhead || isResting || !isNearlyUsedUp(led.window, priceMicro)) return;
    led.isGrowingAhead = true;
    this.inTurn(led, async () => {
      if (!isNearlyUsedUp(led.window, priceMicro)) return;
      const { wantedMicro } = growth(led.window, priceMicro, this.nowMs());
      const { outcome } = await this.growBy(led, wantedMicro);
      if (outcome !== 'ok') led.refusedMs = this.nowMs();
    })
      .catch((error: unknown) => {
        led.refusedMs = this.nowMs();
        if (toBudgetExceeded(error) === null)
          this.services.log.warn({ err: error, window_id: led.id }, 'a usage window could not grow');
      })
      .finally(() => {
        led.isGrowingAhead = false;
      });
  }

  private inTurn(led: Led, work: () => Promise<void>): Promise<void> {
    const turn = led.growing.then(work);
    led.growing = turn.catch(() => undefined);
    return turn;
  }

  private async growBy(led: Led, byMicro: bigint) {
    const grown = await growHoldNow(this.services, { holdId: led.holdId, byMicro });
    if (grown.outcome === 'ok' && grown.amount !== null) {
      led.window = { ...led.window, heldMicro: grown.amount };
      this.announce(led);
    }
    return grown;
  }

  private reservationIn(led: Led, priceMicro: bigint): Reservation {
    let isOpen = true;
    return {
      windowId: led.id,
      priceMicro,
      settle: (used) => {
        if (!isOpen) throw new Error(`A reservation in usage window ${led.id} was settled twice`);
        isOpen = false;
        this.openReservations -= 1;
        led.window = settle(led.window, { priceMicro, amountMicro: used?.amountMicro ?? null }, this.nowMs());
        if (used && this.windows.has(led.id)) this.writer.add(led.id, { n: led.window.events, ...used });
      },
    };
  }

  /** One after the other: a close that fails is tried again at the next look. */
  private closeEnding(): Promise<void> {
    this.closing = this.closing.then(async () => {
      for (const led of [...this.windows.values()]) {
        if (!led.isEnding || led.window.open > 0) continue;
        try {
          await this.closeOne(led);
        } catch (error) {
          this.services.log.warn({ err: error, window_id: led.id }, 'a usage window could not be closed');
          // A process that ends does not wait for a database that is away: others close the rest.
          if (this.closed) return;
        }
      }
      for (const [windowId, leaderId] of [...this.doubtful]) {
        await this.closeRow(windowId, leaderId).then(
          () => this.doubtful.delete(windowId),
          () => undefined,
        );
      }
    });
    return this.closing;
  }

  private async closeOne(led: Led): Promise<void> {
    await this.writer.flush();
    if (this.writer.waiting(led.id) > 0 || !this.windows.has(led.id)) return;
    const { outcome } = await this.closeRow(led.id, this.leaderId);
    if (outcome === 'ended')
      this.services.log.warn({ window_id: led.id }, 'the hold of a usage window had run out');
    this.announce(led);
    this.forget(led);
  }

  private closeRow(windowId: string, leaderId: string) {
    return closeWindowRow(this.services, { windowId, leaderId, at: this.services.clock.now() });
  }

  private endTaking(led: Led): void {
    led.isEnding = true;
    if (this.current.get(keyOf(led.usage)) === led) this.current.delete(keyOf(led.usage));
  }

  private forget(led: Led | undefined): void {
    if (!led) return;
    this.endTaking(led);
    this.windows.delete(led.id);
  }

  /** Others may have closed the windows: what is not written of them is lost. */
  private abandon(): void {
    const lost = { windows: this.windows.size, events: this.writer.waiting() };
    this.services.log.warn(lost, 'the lease of the usage windows was lost');
    for (const led of [...this.windows.values()]) this.forget(led);
    this.writer.forgetAll();
    this.leaderId = randomUUID();
  }

  private announce(led: Led | undefined): void {
    const userId = led?.usage.userId;
    if (userId) announceChange(this.services.db, userId, { topic: 'balance', id: userId });
  }

  private nowMs(): number {
    return this.services.clock.now().getTime();
  }
}

function keyOf({ userId, keyId, use, source, unitPrices }: Usage): string {
  return JSON.stringify([userId, keyId, use, source, ...unitPrices.map(String)]);
}
