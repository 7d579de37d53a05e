import type { Services } from '../../../platform/context.ts';
import { wasRolledBack } from '../../../platform/db/errors/was-rolled-back.ts';
import { type UsageEvent, type WrittenEvents, writeEvents } from './usage-queries.ts';

/** How long an event waits for others before it is written. */
const GATHER_MS = 100;
const BATCH_MAX = 500;
const RETRY_MS = 1_000;

type Batch = { window: string; events: UsageEvent[] }[];

type Options = {
  leaderId: () => string;
  onWritten: (windowId: string) => void;
  /** Another has closed the window: its events are nobody's any more. */
  onLost: (windowId: string) => void;
  /** The database has no n-th event, and nobody else has it either: what comes after it cannot be written. */
  onGap: (windowId: string, n: bigint) => void;
};

/**
 * Gathers the events of windows and writes them in batches, one batch after the other. A batch whose commit
 * is in doubt is written again; the database knows how far each window was written.
 */
export class EventWriter {
  private readonly services: Pick<Services, 'db' | 'pool' | 'log'>;
  private readonly options: Options;
  private readonly unwritten = new Map<string, UsageEvent[]>();
  private count = 0;
  private stopped = false;
  private timer: NodeJS.Timeout | undefined;
  private isRunning = false;
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
    if (!this.isRunning) this.later(GATHER_MS);
  }

  /** Tries to write what waits of a window that takes nothing new, now. What is added for others does not keep it. */
  async flush(windowId: string): Promise<void> {
    while (this.waiting(windowId) > 0 && (await this.writeNext()));
  }

  /** How many events are not written, of one window or of all. */
  waiting(windowId?: string): number {
    return windowId === undefined ? this.count : (this.unwritten.get(windowId)?.length ?? 0);
  }

  forgetAll(): void {
    this.unwritten.clear();
    this.count = 0;
  }

  /** Writes nothing more. */
  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private later(ms: number): void {
    if (this.stopped) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.run();
    }, ms);
  }

  /** Writes what was gathered; what came meanwhile gathers anew, unless it fills a batch. */
  private async run(): Promise<void> {
    this.isRunning = true;
    let isWritten = this.count === 0 || (await this.writeNext());
    while (isWritten && this.count >= BATCH_MAX) isWritten = await this.writeNext();
    this.isRunning = false;
    if (this.count > 0) this.later(isWritten ? GATHER_MS : RETRY_MS);
  }

  /** Writes a batch, or waits for the one that is being written. False where that failed, or a part of it. */
  private writeNext(): Promise<boolean> {
    this.writing ??= this.writeBatch()
      .catch((error: unknown) => {
        this.services.log.warn({ err: error, events: this.count }, 'what was used could not be written');
        return false;
      })
      .finally(() => {
        this.writing = null;
      });
    return this.writing;
  }

  /** False where some windows of the batch could not be written. */
  private async writeBatch(): Promise<boolean> {
    const batch = this.takeBatch();
    const answers = await this.write(batch).catch((error: unknown) => {
      if (batch.length === 1 || !wasRolledBack(error)) throw error;
      return this.writeOneByOne(batch);
    });
    this.note(answers);
    return answers.length === batch.length;
  }

  private write(batch: Batch): Promise<WrittenEvents[]> {
    return writeEvents(this.services, this.options.leaderId(), batch);
  }

  /** The windows of a batch in which some window is refused: that one goes behind the others, and keeps none of them. */
  private async writeOneByOne(batch: Batch): Promise<WrittenEvents[]> {
    const answers: WrittenEvents[] = [];
    for (const one of batch) {
      try {
        answers.push(...(await this.write([one])));
      } catch (error) {
        if (!wasRolledBack(error)) throw error;
        this.services.log.error({ err: error, window_id: one.window }, 'a usage window could not be written');
        const events = this.unwritten.get(one.window) ?? [];
        this.unwritten.delete(one.window);
        this.unwritten.set(one.window, events);
      }
    }
    return answers;
  }

  private note(answers: WrittenEvents[]): void {
    for (const { window_id: windowId, events: written, missing } of answers) {
      const known = this.unwritten.get(windowId);
      if (!known) continue;
      const left = written === null ? [] : known.filter(({ n }) => n > written);
      this.count -= known.length - left.length;
      this.unwritten.delete(windowId);
      // Behind the others, which have waited longer.
      if (left.length > 0) this.unwritten.set(windowId, left);
      if (missing !== null) this.options.onGap(windowId, missing);
      else if (written === null) this.options.onLost(windowId);
      else this.options.onWritten(windowId);
    }
  }

  /** What waited longest, up to the limit. */
  private takeBatch(): Batch {
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
}
