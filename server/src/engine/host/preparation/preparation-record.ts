import type { Machine } from '@bakehouse/contract/machines';
import type { Config } from '../../../config.ts';
import type { Services } from '../../../platform/context.ts';
import type { Database } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { type PreparationId, preparationIds, preparationLabels } from './preparation-ids.ts';
import { findPreparation, selectPreparations, upsertPreparation } from './queries.ts';

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

  /** Records that the step runs, and its progress. Updates that follow too soon are dropped. */
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

type State = Machine['preparations'][number]['state'];

type NeededServices = Pick<Services, 'clock' | 'db' | 'log'>;

type Parts = { config: Pick<Config, 'prepare'>; db: Database };

/**
 * Returns the machine's preparation steps in order. If preparation is disabled, only completed steps are
 * listed, because this server will not continue the steps of a killed one.
 */
export async function listPreparations(
  { config, db }: Parts,
  { hasGpus }: { hasGpus: boolean },
): Promise<Machine['preparations']> {
  const rows = new Map((await selectPreparations(db)).map((row) => [row.id, row]));
  const preparations = preparationIds({ hasGpus }).map((id) => {
    const row = rows.get(id);
    return {
      id,
      label: preparationLabels[id],
      state: row?.state ?? 'waiting',
      detail: row?.detail ?? '',
      progress: row?.progress ?? null,
    };
  });
  return preparations.filter(({ state }) => config.prepare || state === 'ready');
}

/** Returns true if this preparation step will finish soon; false if it or an earlier step has failed. */
export async function isPreparing(
  services: Pick<Services, 'config' | 'db'>,
  id: PreparationId,
): Promise<boolean> {
  const steps = await listPreparations(services, { hasGpus: false });
  const upToIt = steps.slice(0, steps.findIndex((step) => step.id === id) + 1);
  const state = upToIt.at(-1)?.state;
  return (state === 'waiting' || state === 'running') && upToIt.every((step) => step.state !== 'failed');
}
