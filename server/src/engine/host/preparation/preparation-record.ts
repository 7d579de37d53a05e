import type { Machine } from '@bakehouse/contract/machines';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { type PreparationId, preparationLabels } from './preparation-ids.ts';
import { findPreparation, upsertPreparation } from './queries.ts';

type State = Machine['preparations'][number]['state'];

type NeededServices = Pick<Services, 'clock' | 'db' | 'log'>;

const PROGRESS_EVERY_MS = 1_000;
const LOG_EVERY_MS = 10_000;

/** The row of one preparation step; changes are announced to all users and logged. */
export class PreparationRecord {
  readonly id: PreparationId;
  readonly #services: NeededServices;
  #writing: Promise<void> = Promise.resolve();
  #progressAt = 0;
  #loggedAt = 0;

  constructor(services: NeededServices, id: PreparationId) {
    this.#services = services;
    this.id = id;
  }

  async fingerprint(): Promise<string | null> {
    return (await findPreparation(this.#services.db, this.id))?.fingerprint ?? null;
  }

  async set(state: State, detail: string, progress: number | null, fingerprint?: string): Promise<void> {
    await this.#writing;
    await this.#write(state, detail, progress, fingerprint);
    if (state !== 'waiting') this.#log(state === 'ready' ? 'ready' : detail);
  }

  /** Records that it runs, and its progress. Rate-limited: excess updates are dropped. */
  readonly progress = (detail: string, progress: number | null): void => {
    const now = Date.now();
    if (now - this.#progressAt < PROGRESS_EVERY_MS) return;
    this.#progressAt = now;
    const percent = progress === null ? '' : ` (${Math.floor(progress * 100)} %)`;
    if (now - this.#loggedAt >= LOG_EVERY_MS) this.#log(`${detail}${percent}`);
    this.#writing = this.#writing
      .then(() => this.#write('running', detail, progress))
      .catch((error: unknown) =>
        this.#services.log.warn({ err: error }, 'failed to record the progress of a preparation'),
      );
  };

  async #write(state: State, detail: string, progress: number | null, fingerprint?: string): Promise<void> {
    const { db, clock } = this.#services;
    await inTransaction(db, async (tx) => {
      await upsertPreparation(tx, {
        id: this.id,
        state,
        detail,
        progress,
        fingerprint,
        updated_at: clock.now(),
      });
      await publishChange(tx, null, { topic: 'machine', id: this.id });
    });
  }

  #log(text: string): void {
    this.#loggedAt = Date.now();
    this.#services.log.info({ preparation: this.id }, `${preparationLabels[this.id]}: ${text}`);
  }
}
