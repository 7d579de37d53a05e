import { randomUUID } from 'node:crypto';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { announceChange } from '../../../platform/events/publish-change.ts';
import { revenueAccount, userAccount } from '../ledger/accounts.ts';
import { toBudgetExceeded } from '../ledger/holds/within-budget.ts';
import { closeWindow } from './close-window.ts';
import { EventWriter } from './event-writer.ts';
import { Lease } from './lease.ts';
import { takeCredit } from './take-credit.ts';
import { Turns } from './turns.ts';
import { keyOf, type Usage } from './usage.ts';
import { growHoldNow, openWindowRow, type UsageEvent } from './usage-queries.ts';
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
/** Users whose windows are closed at the same time, each on a connection: the others are for those who wait. */
const CLOSED_AT_ONCE = 4;
/** A hold that could not grow ahead of its use is left alone for so long. */
const REFUSED_MS = 10_000;
/** What a crash forgets at most: events that are not written, and reservations whose work goes on. */
const UNWRITTEN_MAX = 2_000;

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
  private readonly lease = new Lease();
  private readonly windows = new Map<string, Led>();
  /** Those that take what comes, by whose and what they are. */
  private readonly current = new Map<string, Led>();
  private readonly opening = new Map<string, Promise<Led>>();
  /** Windows that are not led although their opening may have been committed, by id. */
  private readonly doubtful = new Map<string, { leaderId: string; userId: string }>();
  private openReservations = 0;
  /** By user, whose windows wait for the same account. */
  private readonly closing = new Turns(CLOSED_AT_ONCE);
  private closed = false;
  /** It ends, and the database is away: others close the rest. */
  private gaveUp = false;

  constructor(services: Pick<Services, 'db' | 'pool' | 'log' | 'clock'>) {
    this.services = services;
    this.writer = new EventWriter(services, {
      leaderId: () => this.lease.leaderId,
      onWritten: (windowId) => this.announce(this.windows.get(windowId)),
      onLost: (windowId) => {
        services.log.warn({ window_id: windowId }, 'a usage window was closed by another process');
        this.forget(this.windows.get(windowId));
      },
      onGap: (windowId, missing) => {
        services.log.error(
          { window_id: windowId, missing: Number(missing) },
          'the database has forgotten what was used in a usage window: it ends with what is written',
        );
        this.giveUp(this.windows.get(windowId));
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
      if (this.windows.size > 0 && this.lease.isOver()) this.abandon();
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
    await this.closeEnding(userId);
    return idle.filter(({ id }) => !this.windows.has(id)).length;
  }

  /** Looks after the windows from now on: closes those that are due, and keeps the others. */
  start(): void {
    this.repeat(() => this.look());
    // By itself: however long a close waits, the lease goes on.
    this.repeat(() => this.renew());
  }

  private repeat(work: () => Promise<void>): void {
    setTimeout(() => {
      if (this.closed) return;
      work()
        .catch((error: unknown) =>
          this.services.log.warn({ err: error }, 'could not look after the usage windows'),
        )
        .finally(() => this.repeat(work));
    }, LOOK_MS).unref();
  }

  /** Looks after the windows once. */
  async look(): Promise<void> {
    const nowMs = this.nowMs();
    for (const led of this.current.values())
      if (isOver(led.window, nowMs) || isDue(led.window, nowMs)) this.endTaking(led);
    await this.closeEnding();
  }

  private async renew(): Promise<void> {
    // Who leads no window may have no lease either.
    if (this.windows.size > 0 && !(await this.lease.renew(this.services.db))) this.abandon();
  }

  /** Writes and closes what it leads. What cannot be closed now is closed by others. */
  async close(): Promise<void> {
    this.closed = true;
    for (const led of this.current.values()) this.endTaking(led);
    await this.closeEnding();
    this.writer.stop();
    await this.lease
      .end(this.services.db)
      .catch((error: unknown) =>
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
        [id, leaderId, heldMicro] = [randomUUID(), this.lease.leaderId, amountMicro];
        return this.insert(usage, { id, leaderId }, amountMicro);
      },
    });
    if (leaderId !== this.lease.leaderId) {
      // The lease was lost meanwhile: under the new one nothing could be written in this window.
      this.doubtful.set(id, { leaderId, userId });
      await this.closeEnding(userId);
      return this.open(usage);
    }
    this.lease.lastsFrom(leasedAt);
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
      if (toBudgetExceeded(error) === null) this.doubtful.set(id, { leaderId, userId });
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

  /** Closes what ends, of a user or of all. A close that fails is tried again at the next look. */
  private async closeEnding(userId?: string): Promise<void> {
    const ending = [...this.windows.values()].filter(canClose).map(({ usage }) => usage.userId);
    const doubtful = [...this.doubtful.values()].map((one) => one.userId);
    const users = userId === undefined ? [...ending, ...doubtful] : [userId];
    await this.closing.takeEach(new Set(users), (user) => this.closeOf(user));
  }

  private async closeOf(userId: string): Promise<void> {
    if (this.gaveUp) return;
    for (const led of [...this.windows.values()]) {
      if (led.usage.userId !== userId || !canClose(led)) continue;
      try {
        await this.closeOne(led);
      } catch (error) {
        this.services.log.warn({ err: error, window_id: led.id }, 'a usage window could not be closed');
        this.gaveUp = this.closed;
        if (this.gaveUp) return;
      }
    }
    for (const [windowId, { leaderId, userId: whose }] of [...this.doubtful]) {
      if (whose !== userId) continue;
      await closeWindow(this.services, { windowId, leaderId }).then(
        () => this.doubtful.delete(windowId),
        () => undefined,
      );
    }
  }

  private async closeOne(led: Led): Promise<void> {
    await this.writer.flush(led.id);
    if (this.writer.waiting(led.id) > 0 || !this.windows.has(led.id)) return;
    await closeWindow(this.services, { windowId: led.id, leaderId: this.lease.leaderId });
    this.announce(led);
    this.forget(led);
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

  /** Nothing more can be written in it: it is closed at the next look. */
  private giveUp(led: Led | undefined): void {
    if (!led) return;
    this.forget(led);
    this.doubtful.set(led.id, { leaderId: this.lease.leaderId, userId: led.usage.userId });
  }

  /** Others may have closed the windows: what is not written of them is lost. */
  private abandon(): void {
    const lost = { windows: this.windows.size, events: this.writer.waiting() };
    this.services.log.warn(lost, 'the lease of the usage windows was lost');
    for (const led of [...this.windows.values()]) this.forget(led);
    this.writer.forgetAll();
    this.lease.beginAnew();
  }

  private announce(led: Led | undefined): void {
    const userId = led?.usage.userId;
    if (userId) announceChange(this.services.db, userId, { topic: 'balance', id: userId });
  }

  private nowMs(): number {
    return this.services.clock.now().getTime();
  }
}

function canClose({ isEnding, window }: Led): boolean {
  return isEnding && window.open === 0;
}
