import type { Services } from '../../../platform/context.ts';
import { wasRolledBack } from '../../../platform/db/errors/database-errors.ts';
import { type UsageEvent, type WrittenEvents, writeEvents } from './usage-queries.ts';

/** How long an event waits for more events before the batch is written. */
const GATHER_MS = 100;
const BATCH_MAX = 500;
const RETRY_MS = 1_000;

type Batch = { window: string; events: UsageEvent[] }[];

type Options = {
  leaderId: string;
  onWritten: (windowId: string) => void;
  /** Another process has closed the window, so its unwritten events are dropped. */
  onLost: (windowId: string) => void;
  /**
   * The database has lost event `n` of the window, so later events cannot be written either and are dropped.
   */
  onGap: (windowId: string, n: bigint) => void;
};

/**
 * Collects the events of usage windows, and writes them in batches, one batch at a time. If it is unknown
 * whether a batch was committed, it is written again. The database skips repeated events, because it stores
 * the number of each window's last event.
 */
export class EventWriter {
  private readonly services: Pick<Services, 'db' | 'pool' | 'log'>;
  private readonly options: Options;
  /** Unwritten events by window. The window that has waited longest is first. */
  private readonly unwritten = new Map<string, UsageEvent[]>();
  private count = 0;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<boolean> | null = null;

  constructor(services: Pick<Services, 'db' | 'pool' | 'log'>, options: Options) {
    this.services = services;
    this.options = options;
  }

  add(windowId: string, event: UsageEvent): void {
    const events = this.unwritten.get(windowId);
    if (events) events.push(event);
    else this.unwritten.set(windowId, [event]);
    this.count += 1;
    if (!this.writing) this.writeIn(GATHER_MS);
  }

  /** Writes all events of a window before it closes. Other windows may add events during this time. */
  async flush(windowId: string): Promise<void> {
    while (this.waiting(windowId) > 0 && (await this.write()));
  }

  /** Returns the number of unwritten events, of one window or of all. */
  waiting(windowId?: string): number {
    return windowId === undefined ? this.count : (this.unwritten.get(windowId)?.length ?? 0);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.unwritten.clear();
    this.count = 0;
  }

  private writeIn(ms: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.write();
    }, ms);
  }

  /**
   * Writes one batch, or waits for the batch that is being written, and then schedules the next. Returns
   * false after a failure.
   */
  private write(): Promise<boolean> {
    this.writing ??= this.writeBatch(this.nextBatch())
      .catch((error: unknown) => {
        this.services.log.warn({ err: error, events: this.count }, 'failed to write usage events');
        return false;
      })
      .then((isWritten) => {
        this.writing = null;
        if (this.count >= BATCH_MAX && isWritten) this.writeIn(0);
        else if (this.count > 0) this.writeIn(isWritten ? GATHER_MS : RETRY_MS);
        return isWritten;
      });
    return this.writing;
  }

  /** Returns the events that have waited longest, up to the limit of a batch. */
  private nextBatch(): Batch {
    const batch: Batch = [];
    let room = BATCH_MAX;
    for (const [window, events] of this.unwritten) {
      if (room === 0) break;
      const taken = events.slice(0, room);
      room -= taken.length;
      batch.push({ window, events: taken });
    }
    return batch;
  }

  /**
   * Writes a batch. If the database rejects it, writes its windows one by one. Returns false after a failure.
   */
  private async writeBatch(batch: Batch): Promise<boolean> {
    const [first, ...others] = batch;
    if (!first) return true;
    try {
      for (const answer of await writeEvents(this.services, this.options.leaderId, batch))
        this.recordWritten(answer);
      return true;
    } catch (error) {
      if (!wasRolledBack(error)) throw error;
      if (others.length > 0) {
        let areWritten = true;
        for (const one of batch) areWritten = (await this.writeBatch([one])) && areWritten;
        return areWritten;
      }
      this.services.log.error({ err: error, window_id: first.window }, 'failed to write usage window');
      this.requeue(first.window, this.unwritten.get(first.window) ?? []);
      return false;
    }
  }

  private recordWritten({ window_id: windowId, events: written, missing }: WrittenEvents): void {
    const known = this.unwritten.get(windowId);
    if (!known) return;
    const left = written === null ? [] : known.filter(({ n }) => n > written);
    this.count -= known.length - left.length;
    this.requeue(windowId, left);
    if (missing !== null) this.options.onGap(windowId, missing);
    else if (written === null) this.options.onLost(windowId);
    else this.options.onWritten(windowId);
  }

  /** Moves the window to the end of the queue, because all other windows have waited longer. */
  private requeue(windowId: string, events: UsageEvent[]): void {
    this.unwritten.delete(windowId);
    if (events.length > 0) this.unwritten.set(windowId, events);
  }
}
