import type { Services } from '../../../platform/context.ts';
import { type UsageEvent, writeEvents } from './usage-queries.ts';

/** How long an event waits for others before it is written. */
const GATHER_MS = 100;
const BATCH_MAX = 500;
const RETRY_MS = 1_000;

type Options = {
  leaderId: () => string;
  onWritten: (windowId: string) => void;
  /** Another has closed the window: its events are nobody's any more. */
  onLost: (windowId: string) => void;
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
  private working: Promise<void> | null = null;

  constructor(services: Pick<Services, 'db' | 'pool' | 'log'>, options: Options) {
    this.services = services;
    this.options = options;
  }

  add(windowId: string, event: UsageEvent): void {
    const events = this.unwritten.get(windowId);
    if (events) events.push(event);
    else this.unwritten.set(windowId, [event]);
    this.count += 1;
    if (!this.working) this.later(GATHER_MS);
  }

  /** Tries to write all that waits. */
  async flush(): Promise<void> {
    await this.working;
    if (this.count > 0) await this.begin();
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
      void this.begin();
    }, ms);
  }

  private begin(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.working ??= this.writeAll().finally(() => {
      this.working = null;
    });
    return this.working;
  }

  private async writeAll(): Promise<void> {
    try {
      while (this.count > 0) await this.writeBatch();
    } catch (error) {
      this.services.log.warn({ err: error, events: this.count }, 'what was used could not be written');
      this.later(RETRY_MS);
    }
  }

  private async writeBatch(): Promise<void> {
    const leaderId = this.options.leaderId();
    const answers = await writeEvents(this.services, leaderId, this.takeBatch());
    for (const { window_id: windowId, events: written } of answers) {
      const known = this.unwritten.get(windowId);
      if (!known) continue;
      const left = written === null ? [] : known.filter(({ n }) => n > written);
      this.count -= known.length - left.length;
      if (left.length > 0) this.unwritten.set(windowId, left);
      else this.unwritten.delete(windowId);
      if (written === null) this.options.onLost(windowId);
      else this.options.onWritten(windowId);
    }
  }

  /** What waited longest, up to the limit. */
  private takeBatch(): { window: string; events: UsageEvent[] }[] {
    const batch: { window: string; events: UsageEvent[] }[] = [];
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
