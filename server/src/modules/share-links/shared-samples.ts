import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { openSharedSample, type SharedSamples } from '@bakehouse/contract/share-links';
import { readSamples } from '../training/pictures/read-samples.ts';
import { findOwnRun } from '../training/runs/find-own-run.ts';
import type { Shared } from './find-shared.ts';

type Samples = Awaited<ReturnType<typeof readSamples>>;

/**
 * What a link shows of the pictures that checkpoints have drawn: of a run all, of a model those of the base and its own. Null
 * where nothing was drawn. `runId` is the run, or that which has made the model.
 */
export async function findSharedSamples(
  { id, kind, userId, ownerCtx }: Shared,
  runId: string,
): Promise<Samples | null> {
  const run = await findOwnRun(ownerCtx.db, { runId, userId });
  const { prompts, checkpoints } = await readSamples(ownerCtx.db, run);
  const shown =
    kind === 'run' ? checkpoints : checkpoints.filter(({ step, modelId }) => step === 0 || modelId === id);
  return shown.some(({ step }) => step > 0 || kind === 'run') ? { prompts, checkpoints: shown } : null;
}

/** The same for the wire. */
export async function describeSamples(shared: Shared, runId: string): Promise<SharedSamples | null> {
  const shown = await findSharedSamples(shared, runId);
  return (
    shown && {
      prompts: shown.prompts,
      checkpoints: shown.checkpoints.map(({ step, pictures }) => ({
        step,
        pictures: pictures.map(({ number, width, height }) => ({
          url: endpointUrl(openSharedSample.path, { token: shared.token, step, number }),
          ...{ width, height },
        })),
      })),
    }
  );
}
